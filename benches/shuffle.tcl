# The shuffle workloads in ns-2, to measure its speed beside Trunkline's:
#     ns shuffle.tcl NODES MEGABYTES [SEED [MONITOR]]
# Every node sends every other node MEGABYTES at once over a switch: 1 Gbit/s and 50 us per link, drop-tail 128 packets
# everywhere, SACK, every segment acknowledged, an initial window of ten segments, 180 at most, minimum RTO 200 ms.
# Prints one line of key=value pairs. Packets are counted only with MONITOR 1, which costs time.

set nodes [lindex $argv 0]
set bytes [expr {[lindex $argv 1] * 1000000}]
set seed [expr {[llength $argv] > 2 ? [lindex $argv 2] : 1}]
set monitored [expr {[llength $argv] > 3 ? [lindex $argv 3] : 0}]

set ns [new Simulator]
remove-all-packet-headers
add-packet-header IP TCP Flags
$ns use-scheduler Heap

set random [new RNG]
$random seed $seed

Agent/TCP set packetSize_ 1460
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set useHeaders_ true
Agent/TCP set window_ 180
Agent/TCP set windowInit_ 10
Agent/TCP set minrto_ 0.2
Agent/TCP set rtxcur_init_ 1.0
Agent/TCP set tcpTick_ 0.000001
Agent/TCP set timestamps_ false
# A queue of limit Q holds Q - 1 packets here.
Queue set limit_ 129

set switch [$ns node]
for {set i 0} {$i < $nodes} {incr i} {
    set node($i) [$ns node]
    $ns duplex-link $node($i) $switch 1Gb 50us DropTail
    if {$monitored} {
        set up($i) [$ns monitor-queue $node($i) $switch ""]
        set down($i) [$ns monitor-queue $switch $node($i) ""]
    }
}

set open 0
set completions {}
proc finished {flow} {
    global ns open started completions
    lappend completions [expr {[$ns now] - $started($flow)}]
    incr open -1
    if {$open == 0} { report }
}

set flow 0
for {set i 0} {$i < $nodes} {incr i} {
    for {set j 0} {$j < $nodes} {incr j} {
        if {$i == $j} continue
        set tcp($flow) [new Agent/TCP/Sack1]
        set sink($flow) [new Agent/TCPSink/Sack1]
        $ns attach-agent $node($i) $tcp($flow)
        $ns attach-agent $node($j) $sink($flow)
        $ns connect $tcp($flow) $sink($flow)
        $tcp($flow) proc done {} "finished $flow"
        set ftp($flow) [new Application/FTP]
        $ftp($flow) attach-agent $tcp($flow)
        set started($flow) [$random uniform 0 0.001]
        $ns at $started($flow) "$ftp($flow) send $bytes"
        incr flow
        incr open
    }
}

proc report {} {
    global ns nodes flow completions monitored up down tcp
    set retransmissions 0
    set timeouts 0
    for {set i 0} {$i < $flow} {incr i} {
        incr retransmissions [$tcp($i) set nrexmitpack_]
        incr timeouts [$tcp($i) set nrexmit_]
    }
    set sorted [lsort -real $completions]
    puts -nonewline "completion=[$ns now] median=[lindex $sorted [expr {$flow / 2}]] retransmissions=$retransmissions timeouts=$timeouts"
    if {$monitored} {
        set hops 0
        set host_drops 0
        set switch_drops 0
        for {set i 0} {$i < $nodes} {incr i} {
            incr hops [expr {[$up($i) set pdepartures_] + [$down($i) set pdepartures_]}]
            incr host_drops [$up($i) set pdrops_]
            incr switch_drops [$down($i) set pdrops_]
        }
        puts -nonewline " hops=$hops host_drops=$host_drops switch_drops=$switch_drops"
    }
    puts ""
    exit 0
}

$ns run
