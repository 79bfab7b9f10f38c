# ns dumbbell.tcl PROTO FLOWS MBIT RTT_MS LOSS WINDOW SECONDS WARM SEED [BETA]: a row of dumbbell_more.csv.
# Long flows as in dumbbell_long.csv: access links of 1 Gbit/s (or ten times the bottleneck) and 1 ms, a bottleneck of one
# bandwidth-delay product. Lost packets leave the queue's count here. BETA is CUBIC's, of 1024; ns-2.35 has 819, Linux 717.
lassign $argv proto nf bw rtt loss wnd T warm seed beta
set ns [new Simulator]
source [file join [file dirname [info script]] common.tcl]
$ns use-scheduler Heap
set rng [new RNG]; $rng seed $seed
Agent/TCP set packetSize_ 1460
Agent/TCP set window_ $wnd
set q [expr {int($bw * 1e6 * $rtt * 1e-3 / 12000.0)}]
set access [expr {$bw * 10 > 1000 ? $bw * 10 : 1000}]
set delay [expr {$rtt / 2.0 - 2.0}]
Queue set limit_ [expr {$q + 1}]
set r0 [$ns node]; set r1 [$ns node]
$ns simplex-link $r0 $r1 ${bw}Mb ${delay}ms DropTail
Queue set limit_ 100000
$ns simplex-link $r1 $r0 ${bw}Mb ${delay}ms DropTail
if {$loss > 0} {
  set em [new ErrorModel]
  $em unit pkt; $em set rate_ $loss
  set er [new RNG]; $er seed [expr {$seed + 1000}]
  set u [new RandomVariable/Uniform]; $u use-rng $er
  $em ranvar $u
  $em drop-target [new Agent/Null]
  $ns lossmodel $em $r0 $r1
}
set mon [$ns monitor-queue $r0 $r1 ""]
for {set i 0} {$i < $nf} {incr i} {
  set s($i) [$ns node]; set d($i) [$ns node]
  $ns duplex-link $s($i) $r0 ${access}Mb 1ms DropTail
  $ns duplex-link $r1 $d($i) ${access}Mb 1ms DropTail
  switch -glob $proto {
    Linux-* {
      set t [new Agent/TCP/Linux]; set k [new Agent/TCPSink/Sack1]
      if {$beta ne ""} { $ns at 0 "$t set_ca_default_param cubic beta $beta" }
      $ns at 0 "$t select_ca [string range $proto 6 end]"
    }
    Sack { set t [new Agent/TCP/Sack1]; set k [new Agent/TCPSink/Sack1] }
    NewReno { set t [new Agent/TCP/Newreno]; set k [new Agent/TCPSink] }
    Vegas { set t [new Agent/TCP/Vegas]; set k [new Agent/TCPSink] }
    Reno { set t [new Agent/TCP/Reno]; set k [new Agent/TCPSink] }
  }
  $ns attach-agent $s($i) $t; $ns attach-agent $d($i) $k
  $ns connect $t $k
  set ftp [new Application/FTP]; $ftp attach-agent $t
  set tcp($i) $t
  $ns at [$rng uniform 0 0.1] "$ftp start"
}
set integ [$mon get-pkts-integrator]
proc acked {} { global tcp nf; set x 0; for {set i 0} {$i < $nf} {incr i} { set x [expr {$x + [$tcp($i) set ack_]}] }; return $x }
$ns at $warm { set a0 [acked]; $integ newpoint [$ns now] [$integ set lasty_]; set q0 [$integ set sum_]; set d0 [$mon set bdepartures_] }
$ns at $T {
  set a1 [acked]; $integ newpoint [$ns now] [$integ set lasty_]
  set rtx 0; set to 0
  for {set i 0} {$i < $nf} {incr i} { incr rtx [$tcp($i) set nrexmitpack_]; incr to [$tcp($i) set nrexmit_] }
  set span [expr {$T - $warm}]
  puts "proto=$proto nf=$nf bw=$bw rtt=$rtt loss=$loss seed=$seed goodput_warm=[expr {($a1-$a0)*1460*8/1e6/$span}] qmean_warm=[expr {([$integ set sum_]-$q0)/$span}] drops=[$mon set pdrops_] rtx=$rtx to=$to bott=[$mon set pdepartures_]"
  exit 0
}
$ns run
