import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Stores

/// Google Play: who sends a push, and what is true of a purchase.
extension LedgerService {
    /// Makes sure that Google sends a push, to us, by the account that we expect.
    func identify(pushOf call: Call) async throws {
        guard let verifier = stores.playPush else {
            throw Problem(.notConfigured, "no pushes of Google Play are configured here")
        }
        guard let token = call.headers[.authorization].flatMap({ Authenticator.bearer($0) }) else {
            try await count(ProblemCode.unauthenticated.rawValue, of: Source.playStore)
            throw Problem(.unauthenticated, "expected the token that Pub/Sub signs in with")
        }
        let verified: Authentication<PlayPushIdentity>
        do throws(IssuerKeys.Unavailable) {
            verified = try await verifier.verify(token, at: call.now)
        } catch {
            // The fault is not the sender's: it comes again (Stores, rule 10).
            throw Problem(.storeUnavailable, "Google's keys cannot be read now", retryAfter: 30)
        }
        guard case .refused(let reason) = verified else { return }
        metrics.countRefusedCredential(reason)
        try await count(ProblemCode.unauthenticated.rawValue, of: Source.playStore)
        throw Problem(.unauthenticated, "not a token for this push: \(reason.rawValue)")
    }

    /// What Google Play says of what a push hinted at, or why it does not; neither: nobody is to ask,
    /// or there is nothing to be asked.
    ///
    /// - Throws: `Problem.storeUnavailable` while it does not answer: the push comes again.
    func answer(
        to push: VerifiedPlayPush,
        of call: Call,
        _ configuration: PlayConfiguration
    ) async throws -> (facts: PlayFacts?, fault: StoreFault?) {
        guard let api = stores.clients.playStore?.api else { return (nil, nil) }
        let body: [UInt8]
        do throws(StoreFault) {
            guard let told = try await api.answer(to: push, body: call.body) else {
                return (nil, nil)
            }
            body = told
        } catch {
            // Half an answer, or a page in its place, is nothing that Google said: the push is to come again.
            let isFresh = call.now < push.saidAt.advanced(byMilliseconds: Self.cutAnswerPatience)
            let comesAgain = error.code == .malformed && isFresh
            return (nil, try unanswered(error, of: Source.playStore, comesAgain: comesAgain))
        }
        do throws(StoreFault) {
            return (try facts(ofPlay: body, configuration, call.now), nil)
        } catch {
            return (nil, try unanswered(error, of: Source.playStore))
        }
    }

    /// Milliseconds after an event for which a push of it is asked for again where the answer cannot be read.
    private static let cutAnswerPatience = Instant.millisecondsPerDay

    /// What an answer comes to.
    ///
    /// - Throws: `StoreFault.malformed` if it is of no kind that is known.
    private func facts(
        ofPlay body: [UInt8],
        _ configuration: PlayConfiguration,
        _ now: Instant
    ) throws(StoreFault) -> PlayFacts {
        let read = PlayMapping.facts(
            ofAnswer: body,
            packageNames: configuration.packageNames,
            now: now
        )
        guard case .success(let facts) = read else { throw StoreFault(.malformed) }
        return facts
    }

    /// Tells Google that what was bought is given, now that it is on the disk, and records that; where it
    /// was told before, nothing.
    ///
    /// - Throws: `Problem.storeUnavailable` while it does not answer.
    func acknowledge(_ purchase: PlayAcknowledgement?, _ now: Instant) async throws {
        guard let purchase, let api = stores.clients.playStore?.api else { return }
        do throws(StoreFault) {
            try await api.acknowledge(purchase)
        } catch {
            // What Google will never take from us is the operator's to see: it is counted.
            _ = try unanswered(error, of: Source.playStore)
            return
        }
        let submission = purchase.submission(at: now)
        _ = try await withSpanOfPart("ledger append") { _ in
            try await ledger.appender.record(concurrently: submission, on: self)
        }
    }

    /// Counts a question that was not answered.
    ///
    /// `comesAgain`: whether it is to be asked again, whatever the fault.
    ///
    /// - Throws: `Problem.storeUnavailable` where it may be answered later.
    func unanswered(
        _ fault: StoreFault,
        of store: String,
        comesAgain: Bool = false
    ) throws(Problem) -> StoreFault {
        metrics.countFault(fault, of: store)
        guard fault.isTransient || comesAgain else { return fault }
        throw Problem(
            .storeUnavailable,
            "the store does not answer now: \(fault.code.rawValue)",
            retryAfter: Int(fault.retryAfter ?? 30)
        )
    }

    /// A purchase that an app names by its token, as a customer hands it in: true is what Google Play
    /// says of it.
    ///
    /// - Throws: `Problem.storeUnavailable` while it does not answer, `.notConfigured`.
    func transaction(
        ofPlay token: String,
        packageName: String,
        _ configuration: PlayConfiguration,
        _ now: Instant
    ) async throws -> Result<HandedIn, SignalRefusal> {
        guard let api = stores.clients.playStore?.api else {
            throw Problem(.notConfigured, "the API of Google Play is not configured here")
        }
        guard configuration.packageNames.contains(Name(packageName)) else {
            let refusal = SignalRefusal(.wrongBundle, "packageName", "not an app of this ledger")
            return .failure(refusal)
        }
        let unknown = SignalRefusal(
            .invalidValue,
            "purchaseToken",
            "Google Play knows no such purchase of this app"
        )
        guard let purchase = PurchaseName.play(token) else { return .failure(unknown) }
        let body: [UInt8]
        do throws(StoreFault) {
            body = try await api.answer(of: token, packageName: packageName)
        } catch {
            // What cannot be read does not say that the purchase is unknown.
            let isUnread = error.code == .malformed
            _ = try unanswered(error, of: Source.playStore, comesAgain: isUnread)
            return .failure(unknown)
        }
        do throws(StoreFault) {
            let facts = try facts(ofPlay: body, configuration, now)
            let transaction = VerifiedTransaction(purchase: purchase, facts: facts.submission)
            return .success(HandedIn(transaction, facts.acknowledgement))
        } catch {
            _ = try unanswered(error, of: Source.playStore)
            return .failure(unknown)
        }
    }
}
