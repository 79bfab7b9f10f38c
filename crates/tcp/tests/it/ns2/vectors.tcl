# ns vectors.tcl Sack|NewReno|Linux-reno SEGMENTS PAUSE RESTART [LOST...]: a row of vectors.csv or linux.csv.
# One sender writes four blocks of SEGMENTS segments, each PAUSE seconds after the one before is acknowledged, over a path
# of 23.17 ms each way that takes next to no time per packet, and loses the packets of these numbers, counted as sent; the
# sender's first packet, which stands for a handshake, is number 0. RESTART is slow_start_restart_.
set lost [lassign $argv agent segments pause restart]
source [file join [file dirname [info script]] lossy.tcl]
set said {}
proc start {} { global tcp segments; $tcp advanceby $segments }
$tcp proc done {} { finished }
proc finished {} {
  global ns tcp said pause
  lappend said [format "%.4f,%d,%d" [$ns now] [$tcp set nrexmit_] [$tcp set nrexmitpack_]]
  if {[llength $said] < 4} { $ns at [expr {[$ns now] + $pause}] start } else { report }
}
proc report {} { global said; puts [join $said ,]; exit 0 }
$ns at 0.0 start
$ns at 2000 report
$ns run
