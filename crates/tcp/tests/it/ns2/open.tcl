# ns open.tcl Sack|NewReno BLOCKS SEGMENTS EVERY RESTART [LOST...]: a row of open.csv.
# As vectors.tcl, but BLOCKS blocks are written every EVERY seconds from 0 on, whether the one before is acknowledged or
# not.
set lost [lassign $argv agent blocks segments every restart]
set ns [new Simulator]
source [file join [file dirname [info script]] .. .. .. .. sim tests it reference common.tcl]
$ns use-scheduler Heap
Agent/TCP set packetSize_ 1000
Agent/TCP set slow_start_restart_ $restart
set a [$ns node]; set b [$ns node]
Queue set limit_ 100000
$ns duplex-link $a $b 100Gb 23.17ms DropTail
if {[llength $lost] > 0} {
  set losses [new ErrorModel/List]
  $losses droplist $lost
  $losses drop-target [new Agent/Null]
  $ns lossmodel $losses $a $b
}
if {$agent eq "Sack"} {
  set tcp [new Agent/TCP/Sack1]; set sink [new Agent/TCPSink/Sack1]
} else {
  set tcp [new Agent/TCP/Newreno]; set sink [new Agent/TCPSink]
}
$ns attach-agent $a $tcp; $ns attach-agent $b $sink; $ns connect $tcp $sink
$tcp proc done {} { finished }
proc finished {} {
  global ns tcp blocks segments
  if {[$tcp set ack_] >= $blocks * $segments} {
    puts [format "%.4f,%d,%d" [$ns now] [$tcp set nrexmit_] [$tcp set nrexmitpack_]]; exit 0
  }
}
for {set k 0} {$k < $blocks} {incr k} { $ns at [expr {$k * $every}] "$tcp advanceby $segments" }
$ns at 2000 {puts "never"; exit 0}
$ns run
