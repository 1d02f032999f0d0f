import LedgerAPI
import Logging
import Synchronization

/// Tells of faults in the log, of each kind once in so long: nobody fills it by asking again.
///
/// What is no fault of ours is not told of, whatever its status: a store that is not configured, or
/// a server that is asked too much.
final class FaultNotes: Sendable {
    private let logger: Logger
    private let kinds = Mutex<[Kind: Told]>([:])

    /// A kind of fault, of closed sets so that there are few.
    private struct Kind: Hashable {
        var operation: String
        var code: ProblemCode
    }

    private struct Told {
        var at: ContinuousClock.Instant
        /// Faults since then.
        var repeated = 0
    }

    private let interval: Duration

    /// `interval`: how long faults of a kind are counted before the next is told of.
    init(_ logger: Logger, every interval: Duration) {
        self.logger = logger
        self.interval = interval
    }

    /// Notes the fault that a request met, with its type, never with what the request held.
    func note(_ error: any Error, _ exchange: Exchange) {
        guard let problem = exchange.problem, problem.code.isFault,
            let repeated = count(
                Kind(operation: exchange.operation, code: problem.code),
                at: exchange.begun
            )
        else { return }
        logger.error(
            "fault",
            metadata: [
                "requestId": "\(exchange.id)", "operation": "\(exchange.operation)",
                "code": "\(problem.code.rawValue)", "fault": "\(type(of: error))",
                "detail": "\(problem.detail ?? "")", "repeated": "\(repeated)",
            ]
        )
    }

    /// Notes the fault that something met which the server does by itself.
    func note(_ error: any Error, of job: String) {
        let problem = Problem(anyError: error)
        guard let repeated = count(Kind(operation: job, code: problem.code), at: .now) else {
            return
        }
        logger.error(
            "fault",
            metadata: [
                "job": "\(job)", "code": "\(problem.code.rawValue)",
                "fault": "\(type(of: error))", "detail": "\(problem.detail ?? "")",
                "repeated": "\(repeated)",
            ]
        )
    }

    /// How many of a kind were not told of since the last one was; nil: nor is this one.
    private func count(_ kind: Kind, at now: ContinuousClock.Instant) -> Int? {
        kinds.withLock { kinds in
            if let told = kinds[kind], now - told.at < interval {
                kinds[kind]?.repeated += 1
                return nil
            }
            let repeated = kinds[kind]?.repeated ?? 0
            kinds[kind] = Told(at: now)
            return repeated
        }
    }
}

extension ProblemCode {
    /// Whether whoever runs the server has something to mend.
    fileprivate var isFault: Bool {
        switch self {
        case .internal, .storage, .storageFull, .clockBehind, .clockAhead: true
        default: false
        }
    }
}
