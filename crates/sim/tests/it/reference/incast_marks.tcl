# ns incast_marks.tcl CLIENTS drop-tail|red SEED SECONDS K: a row of incast_marks.csv, and beyond it 99 % of the times and the mean queue
# in packets, for incast_short_more.csv.
# Short sessions as in incast_short.csv: each client begins one of ten segments of 1000 B every 40 ms, a Poisson process, on a connection of its own, towards a
# port of 2 Gbit/s, 25 us and 128 packets. `red` marks from K packets before the arriving one on (both thresholds at K, weight 1) and drops there what is not
# ECN-capable; senders are then.
set N [lindex $argv 0]; set mode [lindex $argv 1]; set seed [lindex $argv 2]; set T [lindex $argv 3]
set K [expr {[llength $argv] > 4 ? [lindex $argv 4] : 65}]
set ns [new Simulator]
source [file join [file dirname [info script]] common.tcl]
$ns use-scheduler Heap
set rng [new RNG]; $rng seed $seed
set iat [new RandomVariable/Exponential]; $iat set avg_ 0.04; $iat use-rng $rng
Agent/TCP set packetSize_ 1000
Agent/TCP set ecn_ [expr {$mode == "red"}]
Queue/RED set setbit_ true
Queue/RED set gentle_ false
Queue/RED set q_weight_ 1.0
Queue/RED set mark_p_ 2.0
Queue/RED set drop_prob_ 1.0
Queue/RED set wait_ false
Queue/RED set thresh_ $K
Queue/RED set maxthresh_ $K
set router [$ns node]; set server [$ns node]
Queue set limit_ 129
$ns simplex-link $router $server 2Gb 25us [expr {$mode == "red" ? "RED" : "DropTail"}]
Queue set limit_ 100000
$ns simplex-link $server $router 2Gb 25us DropTail
Queue set limit_ 10001
for {set i 0} {$i < $N} {incr i} {
  set c($i) [$ns node]
  $ns duplex-link $c($i) $router 100Mb 1ms DropTail
  set free($i) {}
}
set mon [$ns monitor-queue $router $server ""]
set integ [$mon get-pkts-integrator]
set begun 0; set done 0; set agents 0; set fct {}
proc arrive {i} {
  global ns free c server iat begun agents started T
  incr begun
  if {[llength $free($i)] > 0} {
    set a [lindex $free($i) 0]; set free($i) [lrange $free($i) 1 end]
    set t $::tcp($a); $t reset; $::sink($a) reset
  } else {
    set a $agents; incr agents
    set t [new Agent/TCP/Sack1]; set s [new Agent/TCPSink/Sack1]
    $ns attach-agent $c($i) $t; $ns attach-agent $server $s
    $ns connect $t $s
    $t proc done {} "finished $a $i"
    set ::tcp($a) $t; set ::sink($a) $s
  }
  set started($a) [$ns now]
  $t advanceby 10
  $ns at [expr {[$ns now] + [$iat value]}] "arrive $i"
}
proc finished {a i} {
  global ns free done started fct
  incr done
  lappend fct [expr {[$ns now] - $started($a)}]
  $ns at [expr {[$ns now]+0.0001}] "recycle $a $i"
}
proc recycle {a i} { global free; lappend free($i) $a }
for {set i 0} {$i < $N} {incr i} { $ns at [$iat value] "arrive $i" }
$ns at $T {
  set sorted [lsort -real $fct]; set n [llength $sorted]
  set sum 0; foreach x $fct {set sum [expr {$sum+$x}]}
  puts "ns2,$mode,$K,$seed,[$mon set pdrops_],$begun,$done,[expr {[$mon set bdepartures_] * 8.0 / $T / 2e9}],[expr {$sum / $n}],[lindex $sorted [expr {$n / 2}]],[lindex $sorted [expr {$n * 99 / 100}]],[expr {[$integ set sum_] / $T}]"
  exit 0
}
$ns run
