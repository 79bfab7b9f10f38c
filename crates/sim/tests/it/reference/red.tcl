# ns red.tcl SEED ECN WAIT ADAPTIVE: a row of red.csv.
# Four long flows over 10 Mbit/s and a round trip of 42 ms through gentle RED (5 and 15 packets, adaptive 10 and 30; weight 0.002, maximum probability 0.1) with room for
# 200 packets; 60 s, the first ten of which count only for drops. WAIT is RED's wait_.
set seed [lindex $argv 0]; set ecn [lindex $argv 1]; set wait [lindex $argv 2]; set adaptive [lindex $argv 3]
set T 60; set warm 10
set ns [new Simulator]
source [file join [file dirname [info script]] common.tcl]
set rng [new RNG]; $rng seed $seed
ns-random $seed
Agent/TCP set packetSize_ 1460
Agent/TCP set ecn_ $ecn
Queue/RED set setbit_ [expr {$ecn ? "true" : "false"}]
Queue/RED set gentle_ true
Queue/RED set q_weight_ 0.002
Queue/RED set linterm_ 10
Queue/RED set wait_ $wait
Queue/RED set mean_pktsize_ 1500
Queue/RED set idle_pktsize_ 1500
Queue/RED set use_mark_p_ false
Queue/RED set thresh_ 5
Queue/RED set maxthresh_ 15
Queue/RED set adaptive_ $adaptive
if {$adaptive} { Queue/RED set thresh_ 10; Queue/RED set maxthresh_ 30 }
set l [$ns node]; set r [$ns node]
Queue set limit_ 201
$ns simplex-link $l $r 10Mb 20ms RED
Queue set limit_ 100000
$ns simplex-link $r $l 10Mb 20ms DropTail
for {set i 0} {$i < 4} {incr i} {
  set a($i) [$ns node]; set b($i) [$ns node]
  $ns duplex-link $a($i) $l 1Gb 0.5ms DropTail
  $ns duplex-link $r $b($i) 1Gb 0.5ms DropTail
  set tcp($i) [new Agent/TCP/Sack1]
  set sink($i) [new Agent/TCPSink/Sack1]
  $ns attach-agent $a($i) $tcp($i); $ns attach-agent $b($i) $sink($i)
  $ns connect $tcp($i) $sink($i)
  set ftp($i) [new Application/FTP]; $ftp($i) attach-agent $tcp($i)
  $ns at [$rng uniform 0 0.1] "$ftp($i) start"
}
set mon [$ns monitor-queue $l $r ""]
set pi [$mon get-pkts-integrator]
proc acked {} { global tcp; set s 0; for {set i 0} {$i<4} {incr i} {incr s [$tcp($i) set ack_]}; return $s }
$ns at $warm { set a0 [acked]; set s0 [$pi set sum_]; set b0 [$mon set bdepartures_] }
$ns at $T {
  set n [expr {$T-$warm}]
  puts "ns2,$seed,$ecn,$wait,$adaptive,[$mon set pdrops_],[expr {([acked] - $a0) * 1460 * 8.0 / $n / 1e6}],[expr {([$pi set sum_] - $s0) / $n}],[expr {([$mon set bdepartures_] - $b0) * 8.0 / $n / 1e7}]"
  exit 0 }
$ns run
