// A row of dumbbell_more.csv from ns-3.37 (Debian: libns3-dev):
//     g++ -O1 -std=c++17 -DNS3_LOG_ENABLE dumbbell.cc -o dumbbell -lns3-applications -lns3-core -lns3-internet \
//         -lns3-network -lns3-point-to-point -lns3-traffic-control
//     ./dumbbell --proto=Sack --nf=16 --bw=10 --rtt=40 --loss=0 --wnd=0 --T=60 --warm=10 --seed=1
// Long flows as in dumbbell_long.csv, whose figures it repeats: access links of 1 Gbit/s (or ten times the bottleneck)
// and 1 ms, a bottleneck of one bandwidth-delay product. `wnd` is the receive buffer in bytes, 0 for a large one.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include <cstdio>
using namespace ns3;

// Westwood+ that counts once what a recovery delivers. ns-3 counts each duplicate ACK as a segment, and with the ACK
// that ends the recovery all of them again.
class WestwoodOnce : public TcpWestwood {
  public:
    static TypeId GetTypeId() {
        static TypeId type = TypeId("ns3::WestwoodOnce").SetParent<TcpWestwood>().AddConstructor<WestwoodOnce>();
        return type;
    }
    WestwoodOnce() = default;
    WestwoodOnce(const WestwoodOnce& other) : TcpWestwood(other) {}
    Ptr<TcpCongestionOps> Fork() override { return CopyObject<WestwoodOnce>(this); }
    void PktsAcked(Ptr<TcpSocketState> state, uint32_t segments, const Time& rtt) override {
        const SequenceNumber32 ack = state->m_lastAckedSeq;
        if (ack == m_last && segments == 1) {
            m_ahead++;
        } else if (state->m_congState == TcpSocketState::CA_RECOVERY) {
            const uint32_t covered = (ack - m_last) / state->m_segmentSize;
            const uint32_t again = std::min(m_ahead, covered > 0 ? covered - 1 : 0);
            m_ahead -= again;
            if (segments > 1) segments = std::max(segments, again + 1) - again;
        } else if (state->m_congState == TcpSocketState::CA_OPEN) {
            m_ahead = 0;
        }
        m_last = ack;
        TcpWestwood::PktsAcked(state, segments, rtt);
    }

  private:
    SequenceNumber32 m_last;
    uint32_t m_ahead = 0;
};
NS_OBJECT_ENSURE_REGISTERED(WestwoodOnce);

static double g_area = 0;
static double g_since = 0;
static uint32_t g_queued = 0;
static uint64_t g_drops = 0;
static uint64_t g_lost = 0;
static std::vector<Ptr<PacketSink>> g_sinks;

static void QueueChanged(uint32_t, uint32_t length) {
    const double now = Simulator::Now().GetSeconds();
    g_area += g_queued * (now - g_since);
    g_since = now;
    g_queued = length;
}

// A full device queue stops; the packet is then dropped above it.
static void Dropped(Ptr<const Packet>) { g_drops++; }

// On the wire.
static void Lost(Ptr<const Packet>) { g_lost++; }

static uint64_t Received() {
    uint64_t sum = 0;
    for (const auto& sink : g_sinks) sum += sink->GetTotalRx();
    return sum;
}

static std::string TypeOf(const std::string& proto) {
    if (proto == "Sack" || proto == "NewReno") return "ns3::TcpNewReno";
    if (proto == "Westwood+") return "ns3::TcpWestwood";
    if (proto == "Once") return "ns3::WestwoodOnce";
    if (proto == "Cubic" || proto == "LinuxReno" || proto == "Vegas" || proto == "Bbr") return "ns3::Tcp" + proto;
    return proto;
}

int main(int argc, char** argv) {
    std::string proto = "Sack";
    uint32_t nf = 1, wnd = 0, seed = 1;
    double bw = 10, rtt = 40, loss = 0, T = 60, warm = 10;
    CommandLine cmd;
    cmd.AddValue("proto", "", proto);
    cmd.AddValue("nf", "", nf);
    cmd.AddValue("bw", "Mbit/s", bw);
    cmd.AddValue("rtt", "ms", rtt);
    cmd.AddValue("loss", "", loss);
    cmd.AddValue("T", "s", T);
    cmd.AddValue("warm", "s", warm);
    cmd.AddValue("wnd", "bytes", wnd);
    cmd.AddValue("seed", "", seed);
    cmd.Parse(argc, argv);
    RngSeedManager::SetSeed(seed);
    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(TypeOf(proto))));
    Config::SetDefault("ns3::TcpWestwood::ProtocolType", StringValue("WestwoodPlus"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(proto != "NewReno"));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(wnd ? 1u << 20 : 1u << 24));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(wnd ? wnd : 1u << 29));

    NodeContainer routers;
    routers.Create(2);
    InternetStackHelper stack;
    stack.Install(routers);
    PointToPointHelper bottleneck, access;
    bottleneck.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(bw * 1e6))));
    bottleneck.SetChannelAttribute("Delay", TimeValue(Seconds((rtt / 2 - 2) * 1e-3)));
    const auto product = uint32_t(bw * 1e6 * rtt * 1e-3 / 12000);
    bottleneck.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::to_string(product) + "p"));
    access.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(std::max(bw * 10, 1000.0) * 1e6))));
    access.SetChannelAttribute("Delay", TimeValue(MilliSeconds(1)));
    access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
    NetDeviceContainer middle = bottleneck.Install(routers);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.0");
    addresses.Assign(middle);
    TrafficControlHelper control;
    control.Uninstall(middle);
    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < nf; i++) {
        NodeContainer ends;
        ends.Create(2);
        stack.Install(ends);
        NetDeviceContainer left = access.Install(ends.Get(0), routers.Get(0));
        NetDeviceContainer right = access.Install(routers.Get(1), ends.Get(1));
        addresses.SetBase(("10.1." + std::to_string(i) + ".0").c_str(), "255.255.255.0");
        addresses.Assign(left);
        addresses.SetBase(("10.2." + std::to_string(i) + ".0").c_str(), "255.255.255.0");
        Ipv4InterfaceContainer at = addresses.Assign(right);
        control.Uninstall(left);
        control.Uninstall(right);
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(at.GetAddress(1), 9));
        bulk.SetAttribute("SendSize", UintegerValue(14600));
        bulk.Install(ends.Get(0)).Start(Seconds(start->GetValue(0, 0.1)));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
        ApplicationContainer receiver = sink.Install(ends.Get(1));
        receiver.Start(Seconds(0));
        g_sinks.push_back(DynamicCast<PacketSink>(receiver.Get(0)));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    auto port = DynamicCast<PointToPointNetDevice>(middle.Get(0));
    port->GetQueue()->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&QueueChanged));
    auto above = routers.Get(0)->GetObject<TrafficControlLayer>();
    above->TraceConnectWithoutContext("TcDrop", MakeCallback(&Dropped));
    if (loss > 0) {
        Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(loss);
        middle.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
        middle.Get(1)->TraceConnectWithoutContext("PhyRxDrop", MakeCallback(&Lost));
    }
    uint64_t before = 0;
    double area = 0;
    Simulator::Schedule(Seconds(warm), [&]() {
        QueueChanged(0, g_queued);
        before = Received();
        area = g_area;
    });
    Simulator::Stop(Seconds(T));
    Simulator::Run();
    QueueChanged(0, g_queued);
    std::printf("goodput_warm=%.6f qmean_warm=%.4f drops=%lu lossdrops=%lu\n", (Received() - before) * 8e-6 / (T - warm),
                (g_area - area) / (T - warm), g_drops, g_lost);
}
