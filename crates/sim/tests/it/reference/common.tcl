# What the set-ups of this folder share: senders as Trunkline has them, and RED that counts packets.
remove-all-packet-headers
add-packet-header IP TCP Flags
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set useHeaders_ true
Agent/TCP set window_ 100000
Agent/TCP set windowInit_ 2
Agent/TCP set minrto_ 0.2
Agent/TCP set rtxcur_init_ 1.0
Agent/TCP set tcpTick_ 0.000001
Agent/TCP set timestamps_ false
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
