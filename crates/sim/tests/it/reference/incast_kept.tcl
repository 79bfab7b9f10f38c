# ns incast_kept.tcl CLIENTS ACCESS_MBIT SECONDS SEED [SPREAD]: the row of incast_short.csv whose connections are kept.
# Sessions of ten segments of 1000 B every 40 ms from each client, a Poisson process, on one connection each. A session
# is complete when its bytes are acknowledged, and takes the time since it began. That row counts otherwise, as `idle`
# does here: a connection that has nothing left to send, and the time since the last of its sessions began.
# With SPREAD the rates of the clients' links differ by up to that share either way: no client keeps step with the port.
lassign $argv N acc T seed spread
set ns [new Simulator]
source [file join [file dirname [info script]] common.tcl]
$ns use-scheduler Heap
$ns rtproto Manual
set rng [new RNG]; $rng seed $seed
set either [new RandomVariable/Uniform]; $either set min_ -1; $either set max_ 1; $either use-rng $rng
set iat [new RandomVariable/Exponential]; $iat set avg_ 0.04; $iat use-rng $rng
Agent/TCP set packetSize_ 1000
set path [file join [pwd] kept.[pid]]; set acks [open $path w]
set router [$ns node]; set server [$ns node]
Queue set limit_ 129
$ns simplex-link $router $server 2Gb 25us DropTail
Queue set limit_ 100000
$ns simplex-link $server $router 2Gb 25us DropTail
Queue set limit_ 10001
for {set i 0} {$i < $N} {incr i} {
  set c($i) [$ns node]
  set rate [expr {$spread eq "" ? $acc : $acc * (1 + $spread * [$either value])}]
  $ns duplex-link $c($i) $router ${rate}Mb 1ms DropTail
  set t [new Agent/TCP/Sack1]; set s [new Agent/TCPSink/Sack1]
  $ns attach-agent $c($i) $t; $ns attach-agent $server $s
  $ns connect $t $s
  $t proc done {} "finished $i"
  $t attach-trace $acks; $t trace ack_
  set tcp($i) $t; set node([$c($i) id]) $i; set starts($i) {}
}
set mon [$ns monitor-queue $router $server ""]
set integ [$mon get-pkts-integrator]
set begun 0; set done 0; set fct {}
proc arrive {i} {
  global ns iat begun tcp started
  incr begun
  set started($i) [$ns now]; lappend ::starts($i) [$ns now]
  $tcp($i) advanceby 10
  $ns at [expr {[$ns now] + [$iat value]}] "arrive $i"
}
proc finished {i} {
  global ns done started fct
  incr done
  lappend fct [expr {[$ns now] - $started($i)}]
}
[$server get-module Manual] add-route-to-adj-node -default $router
[$router get-module Manual] add-route-to-adj-node $server
for {set i 0} {$i < $N} {incr i} { [$c($i) get-module Manual] add-route-to-adj-node -default $router; [$router get-module Manual] add-route-to-adj-node $c($i) }
for {set i 0} {$i < $N} {incr i} { $ns at [$iat value] "arrive $i" }
proc quantiles {times} {
  set sorted [lsort -real $times]; set n [llength $sorted]; set sum 0
  foreach x $sorted {set sum [expr {$sum + $x}]}
  return "[expr {$sum / $n}],[lindex $sorted [expr {$n / 2}]],[lindex $sorted [expr {$n * 99 / 100}]]"
}
# The times of all sessions acknowledged; the sender's first packet is a SYN.
proc sessions {} {
  global acks path node starts
  close $acks; set in [open $path]; set times {}
  while {[gets $in line] >= 0} {
    if {![string match *ack_* $line]} continue
    set i $node([lindex $line 1]); set complete [expr {int([lindex $line end]) / 10}]
    if {![info exists next($i)]} { set next($i) 0 }
    while {$next($i) < $complete} {
      lappend times [expr {[lindex $line 0] - [lindex $starts($i) $next($i)]}]; incr next($i)
    }
  }
  file delete $path
  return $times
}
$ns at $T {
  set to 0; set rtx 0
  for {set i 0} {$i < $N} {incr i} { incr to [$tcp($i) set nrexmit_]; incr rtx [$tcp($i) set nrexmitpack_] }
  set times [sessions]
  puts "idle=$done [quantiles $fct] to=$to rtx=$rtx dep=[$mon set pdepartures_]"
  puts "ns2,$N,Sack1,$acc,$T,$seed,persist,$begun,[llength $times],[$mon set pdrops_],[expr {[$mon set bdepartures_] * 8.0 / $T / 2e9}],[quantiles $times],[expr {[$integ set sum_] / $T}]"
  exit 0
}
$ns run
