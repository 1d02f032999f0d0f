import AsyncHTTPClient
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle

/// Sends spans to whoever collects them, in batches, behind whoever is answered (OTLP/HTTP).
///
/// A collector that is away or hangs costs spans, and nothing else.
struct SpanSender: Service {
    let queue: SpanQueue
    let collector: LedgerServer.TraceCollector
    let logger: Logger
    /// How long spans wait to be sent together.
    var interval = Duration.seconds(1)
    /// Before a batch is sent again; twice as long the next time.
    var pause = Duration.seconds(1)
    /// How long an answer is waited for.
    var timeout = TimeAmount.seconds(5)
    /// How long whoever ends the server waits for a collector, however much there is to send.
    var lastPatience = TimeAmount.seconds(2)

    /// Spans of a batch.
    private static let batchSize = 512
    /// How often a batch is sent at most.
    private static let attempts = 3
    /// The longest pause that a collector may ask for, in seconds.
    private static let longestPause: Int64 = 30
    /// Bytes of an answer that are read.
    private static let answerByteLimit = 64 << 10

    func run() async throws {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // What is sent of traces is no part of one.
        configuration.tracing.tracer = nil
        let client = HTTPClient(
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            configuration: configuration
        )
        var isWell = true
        while await interval.passes() {
            // Whoever stops the server does not wait for a collector.
            isWell = await cancelWhenGracefulShutdown { [wasWell = isWell] in
                await send(by: client, wasWell: wasWell)
            }
        }
        await sendRest(by: client)
        // What is still under way is not waited for.
        try? await client.shutdown()
    }

    /// Sends what waits when the server ends, within a bound, and tells of what it could not send.
    private func sendRest(by client: HTTPClient) async {
        let end = NIODeadline.now() + lastPatience
        var lost = 0
        while case let batch = queue.take(upTo: Self.batchSize), !batch.isEmpty {
            let left = end - .now()
            let isSent =
                left > .zero ? await send(batch, by: client, within: left) == .taken : false
            if isSent { continue }
            queue.count(.failed, batch.count)
            lost += batch.count
        }
        guard lost > 0 else { return }
        logger.warning(
            "the server ends before the collector took all spans",
            metadata: ["spans": "\(lost)"]
        )
    }

    /// Sends what waits; returns whether the collector takes it.
    private func send(by client: HTTPClient, wasWell: Bool) async -> Bool {
        while case let batch = queue.take(upTo: Self.batchSize), !batch.isEmpty {
            guard await sendAgain(batch, by: client) else {
                if Task.isCancelled {
                    // It is tried once more at the end; one that comes twice has one number.
                    queue.putBack(batch)
                    return wasWell
                }
                queue.count(.failed, batch.count)
                if wasWell {
                    logger.warning("the collector does not take spans: they are counted and lost")
                }
                return false
            }
        }
        if !wasWell { logger.notice("the collector takes spans again") }
        return true
    }

    /// Sends a batch until it is taken, or given up.
    private func sendAgain(_ batch: [EndedSpan], by client: HTTPClient) async -> Bool {
        var pause = pause
        for attempt in 1...Self.attempts {
            switch await send(batch, by: client, within: timeout) {
            case .taken: return true
            case .refused: return false
            case .again(let seconds):
                guard attempt < Self.attempts else { return false }
                let asked = seconds.map { Duration.seconds(min($0, Self.longestPause)) }
                // Who is cancelled gives up at once.
                guard (try? await Task.sleep(for: max(pause, asked ?? pause))) != nil else {
                    return false
                }
                pause *= 2
            }
        }
        return false
    }

    private enum Reply: Equatable {
        case taken
        /// To be sent again, after the seconds that it asks for.
        case again(after: Int64?)
        case refused
    }

    private func send(
        _ batch: [EndedSpan],
        by client: HTTPClient,
        within timeout: TimeAmount
    ) async -> Reply {
        var request = HTTPClientRequest(url: collector.url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(
            ByteBuffer(bytes: SpanDocument.bytes(of: batch, service: collector.serviceName))
        )
        // Why there is no answer makes no difference.
        guard let answer = try? await client.execute(request, timeout: timeout),
            let body = try? await answer.body.collect(upTo: Self.answerByteLimit)
        else { return .again(after: nil) }
        switch answer.status.code {
        case 200..<300:
            let rejected = min(
                batch.count,
                SpanDocument.rejected(Array(body.readableBytesView))
            )
            queue.count(.rejected, rejected)
            queue.count(.sent, batch.count - rejected)
            return .taken
        case 429, 502, 503, 504:
            return .again(after: answer.headers.first(name: "Retry-After").flatMap { Int64($0) })
        default: return .refused
        }
    }
}

extension LedgerServer {
    /// Who collects spans, and of how many traces.
    package struct TraceCollector: Sendable, Equatable {
        /// Where spans are posted to.
        package var url: String
        /// Under which name the server is shown there.
        package var serviceName = "entitle"
        /// Of a hundred traces that begin here, those that are sent.
        package var percent = 100

        /// Names the address.
        package init(url: String) { self.url = url }
    }
}
