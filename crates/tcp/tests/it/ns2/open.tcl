# ns open.tcl Sack|NewReno BLOCKS SEGMENTS EVERY RESTART [LOST...]: a row of open.csv.
# As vectors.tcl, but BLOCKS blocks are written every EVERY seconds from 0 on, whether the one before is acknowledged or
# not.
set lost [lassign $argv agent blocks segments every restart]
source [file join [file dirname [info script]] lossy.tcl]
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
