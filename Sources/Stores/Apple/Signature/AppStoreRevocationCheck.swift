public import Entitlements
import Synchronization
@_spi(DisableValidityCheck) @_spi(FixedExpiryValidationTime) import X509

/// Asks the authority whether a chain's certificates were taken back (OCSP, RFC 6960).
///
/// Soft: only an authentic answer that says "revoked" counts. A responder that is away, slow or
/// wrong never stops a message. A chain is asked about once in an interval, by one caller; the
/// others go on with what is known. What was revoked stays so. What counts is what its authority says
/// today, whenever a message was signed or recorded (Stores, rule 5).
public struct AppStoreRevocationCheck: Sendable {
    /// Sends a DER request to a responder's URI by HTTP POST with `application/ocsp-request`, and
    /// gives the body of its answer, nil if there is none.
    ///
    /// Must end soon after its task is cancelled.
    public typealias Transport =
        @Sendable (_ request: [UInt8], _ responder: String) async -> [UInt8]?

    /// How long a responder may take before the answer counts as absent: three seconds.
    public static let defaultTimeoutMilliseconds: Int64 = 3_000
    /// How long an answer holds: a quarter of an hour.
    public static let defaultIntervalMilliseconds: Int64 = 900_000
    /// Bytes of an answer; a larger one counts as absent.
    package static let answerByteLimit = 64 * 1024

    private let timeoutMilliseconds: Int64
    private let intervalMilliseconds: Int64
    private let clock: @Sendable () -> Instant
    private let transport: Transport

    /// Makes a check; `clock`: by which an answer holds.
    public init(
        timeoutMilliseconds: Int64 = defaultTimeoutMilliseconds,
        intervalMilliseconds: Int64 = defaultIntervalMilliseconds,
        clock: @escaping @Sendable () -> Instant,
        transport: @escaping Transport
    ) {
        self.timeoutMilliseconds = timeoutMilliseconds
        self.intervalMilliseconds = intervalMilliseconds
        self.clock = clock
        self.transport = transport
    }

    /// Whether the chain is known to be revoked, asking anew if it is time.
    func isRevoked(_ chain: AppStoreChain) async -> Bool {
        let now = clock()
        let isDue = chain.revocation.withLock { state in
            if let last = state.askedAt,
                now < last.advanced(byMilliseconds: intervalMilliseconds)
            {
                return false
            }
            state.askedAt = now
            return true
        }
        if isDue, await isFoundRevoked(chain.certificates, now) {
            chain.revocation.withLock { $0.isRevoked = true }
        }
        return chain.revocation.withLock { $0.isRevoked }
    }

    private func isFoundRevoked(_ chain: [Certificate], _ now: Instant) async -> Bool {
        guard chain.count == AppStoreLimits.certificateCount else { return false }
        let responder = Responder(timeoutMilliseconds: timeoutMilliseconds, transport: transport)
        var verifier = Verifier(rootCertificates: CertificateStore([chain[2]])) {
            RFC5280Policy.withValidityCheckDisabled()
            AppStoreMarkerPolicy()
            OCSPVerifierPolicy(
                failureMode: .soft,
                requester: responder,
                fixedExpiryValidationTime: now.date
            )
        }
        let result = await verifier.validate(
            leaf: chain[0],
            intermediates: CertificateStore([chain[1]])
        )
        // The chain was verified before, by the same policies but the last.
        if case .couldNotValidate = result { return true }
        return false
    }
}

/// What is known of a chain's revocation.
struct RevocationState: Sendable {
    /// When somebody last began to ask.
    var askedAt: Instant?
    var isRevoked = false
}

/// One responder behind a transport, with a time limit.
private struct Responder: OCSPRequester {
    let timeoutMilliseconds: Int64
    let transport: AppStoreRevocationCheck.Transport

    func query(request: [UInt8], uri: String) async -> OCSPRequesterQueryResult {
        let answer = await withTaskGroup(of: [UInt8]?.self) { group in
            group.addTask { await transport(request, uri) }
            group.addTask {
                // Cancelled as soon as the answer is there.
                try? await Task.sleep(for: .milliseconds(timeoutMilliseconds))
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        guard let answer, answer.count <= AppStoreRevocationCheck.answerByteLimit else {
            return .nonTerminalError(CancellationError())
        }
        return .response(answer)
    }
}
