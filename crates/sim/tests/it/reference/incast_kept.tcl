# ns incast_kept.tcl CLIENTS ACCESS_MBIT SECONDS SEED: the row of incast_short.csv whose connections are kept.
# Sessions of ten segments of 1000 B every 40 ms from each client, a Poisson process, on one connection each. `done` counts as that row does: when a connection
# has nothing left to send. `acked` counts sessions whose bytes are acknowledged.
set N [lindex $argv 0]; set acc [lindex $argv 1]; set T [lindex $argv 2]; set seed [lindex $argv 3]
set ns [new Simulator]
source [file join [file dirname [info script]] common.tcl]
$ns use-scheduler Heap
set rng [new RNG]; $rng seed $seed
set iat [new RandomVariable/Exponential]; $iat set avg_ 0.04; $iat use-rng $rng
Agent/TCP set packetSize_ 1000
set router [$ns node]; set server [$ns node]
Queue set limit_ 129
$ns simplex-link $router $server 2Gb 25us DropTail
Queue set limit_ 100000
$ns simplex-link $server $router 2Gb 25us DropTail
Queue set limit_ 10001
for {set i 0} {$i < $N} {incr i} {
  set c($i) [$ns node]
  $ns duplex-link $c($i) $router ${acc}Mb 1ms DropTail
  set t [new Agent/TCP/Sack1]; set s [new Agent/TCPSink/Sack1]
  $ns attach-agent $c($i) $t; $ns attach-agent $server $s
  $ns connect $t $s
  $t proc done {} "finished $i"
  set tcp($i) $t
}
set mon [$ns monitor-queue $router $server ""]
set integ [$mon get-pkts-integrator]
set begun 0; set done 0; set fct {}
proc arrive {i} {
  global ns iat begun tcp started
  incr begun
  set started($i) [$ns now]
  $tcp($i) advanceby 10
  $ns at [expr {[$ns now] + [$iat value]}] "arrive $i"
}
proc finished {i} {
  global ns done started fct
  incr done
  lappend fct [expr {[$ns now] - $started($i)}]
}
for {set i 0} {$i < $N} {incr i} { $ns at [$iat value] "arrive $i" }
$ns at $T {
  set sorted [lsort -real $fct]; set n [llength $sorted]
  set sum 0; foreach x $fct {set sum [expr {$sum+$x}]}
  set to 0; set rtx 0; set acked 0
  for {set i 0} {$i < $N} {incr i} { incr to [$tcp($i) set nrexmit_]; incr rtx [$tcp($i) set nrexmitpack_]; incr acked [expr {[$tcp($i) set ack_]/10}] }
  puts "seed=$seed drops=[$mon set pdrops_] begun=$begun done=$done acked=$acked util=[expr {[$mon set bdepartures_] * 8.0 / $T / 2e9}] mean=[expr {$sum / $n}] p50=[lindex $sorted [expr {$n / 2}]] p99=[lindex $sorted [expr {$n*99/100}]] q=[expr {[$integ set sum_]/$T}] to=$to rtx=$rtx dep=[$mon set pdepartures_]"
  exit 0
}
$ns run
