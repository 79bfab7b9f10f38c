# ns incast.tcl Sack|NewReno SERVERS BYTES MINRTO BLOCKS SECONDS SEED [JITTER [RESTART [CLOCKS]]]: a row of incast_more.csv; with RESTART
# false, of incast_seeds.csv; with CLOCKS 1e-4 as well, of incast_clocks.csv.
# Barrier-synchronised reads as in incast_barrier.csv: 1 Gbit/s and 25 us, the client's port holds 64 packets. Every server
# sends BYTES, in whole segments, up to JITTER seconds (1e-5) after a block begins; the next begins when all are acknowledged.
# RESTART is slow_start_restart_. The rates of the servers' links differ by up to the share CLOCKS (0) either way.
lassign $argv proto N sru minrto blocks T seed
set ns [new Simulator]
source [file join [file dirname [info script]] common.tcl]
$ns use-scheduler Heap
set rng [new RNG]; $rng seed $seed
Agent/TCP set packetSize_ 1460
Agent/TCP set minrto_ $minrto
Agent/TCP set slow_start_restart_ [expr {[llength $argv] > 8 ? [lindex $argv 8] : true}]
set clocks [expr {[llength $argv] > 9 ? [lindex $argv 9] : 0}]
# The first draw after a small seed is always near the lower end.
if {$clocks > 0} { for {set k 0} {$k < 20} {incr k} { $rng uniform 0 1 } }
set sw [$ns node]; set c [$ns node]
Queue set limit_ 65
$ns simplex-link $sw $c 1Gb 25us DropTail
Queue set limit_ 10001
$ns simplex-link $c $sw 1Gb 25us DropTail
set mon [$ns monitor-queue $sw $c ""]
set segs [expr {($sru + 1459) / 1460}]
for {set i 0} {$i < $N} {incr i} {
  set s($i) [$ns node]
  set rate [expr {$clocks > 0 ? 1e9 * (1 + [$rng uniform -$clocks $clocks]) : 1e9}]
  $ns duplex-link $s($i) $sw $rate 25us DropTail
  if {$proto eq "Sack"} {
    set t [new Agent/TCP/Sack1]; set k [new Agent/TCPSink/Sack1]
  } else {
    set t [new Agent/TCP/Newreno]; set k [new Agent/TCPSink]
  }
  $ns attach-agent $s($i) $t; $ns attach-agent $c $k; $ns connect $t $k
  set tcp($i) $t
  $t proc done {} "finished $i"
}
set block 0; set left 0; set times {}
proc start {} {
  global ns block left N tcp segs begun rng
  incr block; set left $N; set begun [$ns now]
  for {set i 0} {$i < $N} {incr i} { $ns at [expr {[$ns now] + [$rng uniform 0 $::jit]}] "$tcp($i) advanceby $segs" }
}
set jit [expr {[llength $argv] > 7 ? [lindex $argv 7] : 1e-5}]
proc finished {i} {
  global ns left begun times block blocks
  incr left -1
  if {$left == 0} { lappend times [expr {[$ns now] - $begun}]; if {$block < $blocks} { $ns at [$ns now] start } else { report } }
}
proc report {} {
  global ns times proto N sru seed mon tcp
  set n [llength $times]; set sorted [lsort -real $times]; set to 0; set rtx 0
  for {set i 0} {$i < $N} {incr i} { incr to [$tcp($i) set nrexmit_]; incr rtx [$tcp($i) set nrexmitpack_] }
  puts "proto=$proto N=$N sru=$sru seed=$seed blocks=$n goodput=[expr {$n * $N * $sru * 8e-6 / [$ns now]}] p50=[lindex $sorted [expr {$n/2}]] drops=[$mon set pdrops_] to=$to rtx=$rtx"
  exit 0
}
$ns at 0.0 start
$ns at $T report
$ns run
