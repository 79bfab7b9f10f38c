# What open.tcl and vectors.tcl have in common: a sender and a path of 23.17 ms each way that takes next to no time per
# packet, and loses the packets of the numbers in `lost`, counted as sent. It reads `agent` (Sack, NewReno, Linux-reno),
# `restart` (slow_start_restart_) and `lost`, and makes `ns` and `tcp`.
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
if {$agent eq "Linux-reno"} {
  set tcp [new Agent/TCP/Linux]; set sink [new Agent/TCPSink/Sack1]
  $ns at 0 "$tcp select_ca reno"
} elseif {$agent eq "Sack"} {
  set tcp [new Agent/TCP/Sack1]; set sink [new Agent/TCPSink/Sack1]
} else {
  set tcp [new Agent/TCP/Newreno]; set sink [new Agent/TCPSink]
}
$ns attach-agent $a $tcp; $ns attach-agent $b $sink; $ns connect $tcp $sink
