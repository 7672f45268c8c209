// SPDX-License-Identifier: Apache-2.0
//
// A reader by another DDS than Cyclone: Fast DDS, as ROS 2 has it by default. It takes messages as bytes, and writes them to
// standard output, each behind its length (32 bits). When COUNT of them were received, or nothing came for QUIET seconds after the
// first one, it says on standard error how many it got and how many were lost after that, and ends.
//
// usage: fastdds_reader DOMAIN TOPIC TYPE COUNT QUIET        (on the loopback interface)
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>

using namespace eprosima::fastdds::dds;
using namespace eprosima::fastrtps::rtps;
using Bytes = std::vector<unsigned char>;

namespace {

constexpr unsigned largest = 16 << 20; // bytes of a message

// Any type: its messages stay the bytes that came.
class AnyType : public TopicDataType
{
public:
    explicit AnyType(const char *name)
    {
        setName(name);
        m_typeSize = largest;
        m_isGetKeyDefined = false;
    }
    bool serialize(void *, SerializedPayload_t *) override { return false; }
    bool deserialize(SerializedPayload_t *payload, void *data) override
    {
        static_cast<Bytes *>(data)->assign(payload->data, payload->data + payload->length);
        return true;
    }
    std::function<uint32_t()> getSerializedSizeProvider(void *) override
    {
        return [] { return largest; };
    }
    void *createData() override { return new Bytes; }
    void deleteData(void *data) override { delete static_cast<Bytes *>(data); }
    bool getKey(void *, InstanceHandle_t *, bool) override { return false; }
};

DomainParticipant *join(unsigned domain)
{
    DomainParticipantQos qos;
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    udp->interfaceWhiteList.push_back("127.0.0.1");
    udp->receiveBufferSize = udp->sendBufferSize = 4 << 20;
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.push_back(udp);
    Locator_t peer;
    IPLocator::setIPv4(peer, 127, 0, 0, 1);
    qos.wire_protocol().builtin.initialPeersList.push_back(peer);
    return DomainParticipantFactory::get_instance()->create_participant(domain, qos);
}

DataReader *open(DomainParticipant *participant, const char *name, const char *type)
{
    TypeSupport support(new AnyType(type));
    support.register_type(participant);
    Topic *topic = participant->create_topic(name, type, TOPIC_QOS_DEFAULT);
    DataReaderQos qos = DATAREADER_QOS_DEFAULT;
    qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
    qos.history().kind = KEEP_LAST_HISTORY_QOS;
    qos.history().depth = 20;
    qos.endpoint().history_memory_policy = PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    return topic ? participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT)->create_datareader(topic, qos) : nullptr;
}

long lost_so_far(DataReader *reader)
{
    SampleLostStatus lost;
    reader->get_sample_lost_status(lost);
    return lost.total_count;
}

void put(const Bytes &bytes)
{
    const uint32_t length = static_cast<uint32_t>(bytes.size());
    std::fwrite(&length, sizeof length, 1, stdout);
    std::fwrite(bytes.data(), 1, length, stdout);
}

} // namespace

int main(int argc, char **argv)
{
    using clock = std::chrono::steady_clock;
    if (argc != 6) {
        std::fprintf(stderr, "usage: %s DOMAIN TOPIC TYPE COUNT QUIET\n", argv[0]);
        return 64;
    }
    const long wanted = std::strtol(argv[4], nullptr, 10);
    const auto quiet = std::chrono::seconds(std::strtol(argv[5], nullptr, 10));
    DomainParticipant *participant = join(static_cast<unsigned>(std::strtol(argv[1], nullptr, 10)));
    DataReader *reader = participant ? open(participant, argv[2], argv[3]) : nullptr;
    if (!reader)
        return 1;
    long count = 0, lost_before = 0;
    Bytes bytes;
    SampleInfo info;
    for (auto last = clock::now(); count < wanted && (count == 0 || clock::now() - last < quiet);) {
        if (reader->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK) {
            if (info.valid_data) {
                put(bytes);
                lost_before = count++ == 0 ? lost_so_far(reader) : lost_before; // while both sides were matching
            }
            last = clock::now();
        } else {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    std::fprintf(stderr, "received %ld lost %ld\n", count, lost_so_far(reader) - lost_before);
    std::fflush(stdout);
    std::_Exit(0);
}
