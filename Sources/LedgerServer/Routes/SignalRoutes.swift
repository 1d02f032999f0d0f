import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Stores

/// What the stores send (Stores).
///
/// 200 for what is recorded and for duplicates, 4xx for what can never succeed, 5xx where the
/// fault is ours, so that the store sends again (Stores, rule 10).
extension RouteTable {
    static let signalRoutes = [
        Route(
            method: .post,
            template: "/v1/signals/app-store",
            operation: "receiveAppStoreSignal",
            summary: "App Store Server Notifications V2: the URL for App Store Connect.",
            access: .store(.appStore),
            body: Route.Body(
                shape: .object([Shape.Member("signedPayload", .signed)]),
                byteLimit: signalBodyLimit
            ),
            answers: [signalReply],
            problems: appendProblems
                + SignalRefusal.Code.allCases.compactMap {
                    ProblemCode(rawValue: $0.rawValue)
                } + [.notConfigured],
            handler: receiveAppStoreSignal
        ),
        Route(
            method: .post,
            template: "/v1/signals/play",
            operation: "receivePlaySignal",
            summary: "Real-time Developer Notifications: the URL for a Pub/Sub push subscription.",
            access: .store(.playStore),
            body: Route.Body(
                shape: .document("A push of Pub/Sub with a notification in it"),
                byteLimit: signalBodyLimit
            ),
            answers: [signalReply],
            problems: appendProblems + [.notConfigured, .storeUnavailable]
                + SignalRefusal.Code.allCases.compactMap {
                    ProblemCode(rawValue: $0.rawValue)
                },
            handler: receivePlaySignal
        ),
        Route(
            method: .post,
            template: "/v1/signals/revenuecat",
            operation: "receiveRevenueCatSignal",
            summary: "RevenueCat's webhooks.",
            access: .store(.revenueCat),
            body: Route.Body(shape: .document("A webhook body"), byteLimit: signalBodyLimit),
            answers: [signalReply],
            problems: appendProblems + [.notConfigured, .forbidden],
            handler: receiveRevenueCatSignal
        ),
    ]

    /// A real notification has about 20 KB; evidence is kept up to 1 MiB.
    private static let signalBodyLimit = 512 << 10

    private static let signalReply = Route.Reply(
        status: 200,
        text: "On the disk, now or since an earlier time",
        shape: .named("SignalReceipt")
    )

    @Sendable
    private static func receiveAppStoreSignal(
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Answer {
        guard let verifier = service.stores.appStore else {
            throw Problem(.notConfigured, "the App Store is not configured here")
        }
        let json: JSONValue
        let payload: String
        do {
            json = try await service.computing { try call.storeJSON() }
            payload = try json.required("signedPayload")
        } catch let problem as Problem {
            try await service.count(problem.code.rawValue, of: Source.appStore)
            throw problem
        }
        let notification: VerifiedAppStoreNotification
        switch await verifier.notification(Array(payload.utf8), now: call.now) {
        case .success(let value): notification = value
        case .failure(let refusal):
            try await service.count(refusal, of: Source.appStore)
            throw Problem(refusal, of: Source.appStore)
        }
        return try await record(
            AppStoreMapping.submission(for: notification, body: call.body, readAs: json),
            Source.appStore,
            service
        )
    }

    @Sendable
    private static func receivePlaySignal(
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Answer {
        guard let configuration = service.stores.playStore else {
            throw Problem(.notConfigured, "Google Play is not configured here")
        }
        if !call.caller.has(.ingest) { try await service.identify(pushOf: call) }
        let read = try await service.computing {
            UnverifiedPlayPush.reading(
                bytes: call.body,
                packageNames: configuration.packageNames,
                now: call.now
            )
        }
        switch read {
        case .failure(let refusal):
            try await service.count(refusal, of: Source.playStore)
            throw Problem(refusal, of: Source.playStore)
        case .success(let push):
            let push = push.trusting(.authenticatedRequest)
            let asked = try await service.answer(to: push, of: call, configuration)
            // The fact before its hint: whoever gets none of both sends the hint again.
            if let facts = asked.facts {
                _ = try await record(
                    facts.submission,
                    Source.playStore,
                    service,
                    isCountedWithAnother: true
                )
                try await service.acknowledge(facts.acknowledgement, call.now)
            }
            let hint = PlayMapping.submission(
                for: push,
                body: call.body,
                environment: asked.facts?.submission.environment ?? .production,
                unansweredBy: asked.fault
            )
            return try await record(hint, Source.playStore, service)
        }
    }

    @Sendable
    private static func receiveRevenueCatSignal(
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Answer {
        let read = try await service.computing {
            UnverifiedRevenueCatWebhook.json(of: call.body).flatMap { json in
                UnverifiedRevenueCatWebhook.reading(json).map { ($0, json) }
            }
        }
        switch read {
        case .failure(let refusal):
            try await service.count(refusal, of: Source.revenueCat)
            throw Problem(refusal, of: Source.revenueCat)
        case .success(let (webhook, json)):
            return try await record(
                RevenueCatMapping.submission(
                    for: webhook.trusting(.authenticatedRequest, receivedAt: call.now),
                    body: call.body,
                    readAs: json
                ),
                Source.revenueCat,
                service
            )
        }
    }

    /// `isCountedWithAnother`: whether what follows counts the signal, unless this is refused.
    private static func record(
        _ submission: Submission,
        _ store: String,
        _ service: LedgerService,
        isCountedWithAnother: Bool = false
    ) async throws -> Answer {
        let receipt = try await withSpanOfPart("ledger append") { _ in
            try await service.ledger.appender.record(
                concurrently: submission,
                on: service.computers
            )
        }
        if receipt.isRefused || !isCountedWithAnother {
            service.metrics.countSignal(store, outcome: receipt.outcome)
        }
        return Answer(try SignalReceipt(receipt) { Problem($0) }).at(receipt)
    }
}

extension LedgerService {
    /// Counts a signal that is turned away, in metrics and, rarely, in the log (Stores, rule 5).
    func count(_ refusal: SignalRefusal, of store: String) async throws {
        try await count(refusal.code.rawValue, of: store)
    }

    /// Counts the same by its code, one of a closed set.
    func count(_ code: String, of store: String) async throws {
        metrics.countSignal(store, outcome: code)
        try await keep(code, of: store)
    }

    /// Counts the same in the log alone.
    func keep(_ code: String, of store: String) async throws {
        try await blocking { [ledger, refusals] in
            guard !ledger.isReadOnly else { return }
            let isNoted = try ledger.appender.countRefusal(
                code,
                of: store,
                environment: .production
            )
            // What stands in the log is not to be counted again after a restart.
            if isNoted { refusals?.keep() }
        }
    }
}

extension Receipt {
    fileprivate var isRefused: Bool {
        guard case .refused = self else { return false }
        return true
    }

    /// The word for what became of it.
    var outcome: String {
        switch self {
        case .appended: "appended"
        case .duplicate: "duplicate"
        case .known: "known"
        case .refused(let refusal): refusal.code.rawValue
        }
    }
}

extension Answer {
    /// The answer with the size of the log that it was made from.
    func at(size: UInt64) -> Self {
        var answer = self
        answer.headers[.ledgerSequence] = String(size)
        return answer
    }

    /// The answer with the size of a log that holds what was appended, now or when it was asked for first.
    func at(_ receipt: Receipt) -> Self { receipt.size.map { at(size: $0) } ?? self }
}
