import Crypto
import Encodings
import Entitlements
import LedgerOperations
import ModelSupport
import StoreSimulator
import Stores

/// What the App Store's API answers: an input is an answer in which payloads stand as plain objects; they
/// are signed, and the answer is given to whatever is asked.
struct AnswerTarget: MutatingFuzzTarget {
    private let appStore: FuzzedAppStore
    private let answers: [JSONValue]
    let mutation: JSONMutation
    private let access: AppStoreAccess

    init(_ appStore: FuzzedAppStore) throws {
        self.appStore = appStore
        access = try AppStoreAccess(
            issuerID: "57246542-96fe-1a63-e053-0824d011072a",
            keyID: "FUZZED",
            pem: P256.Signing.PrivateKey().pemRepresentation
        )
        let payloads = appStore.payloads()
        let (transaction, renewal) = (payloads[0], payloads[1])
        let bundleID = JSONValue.string(appStore.store.bundleID)
        answers = [
            .members([
                "bundleId": bundleID, "environment": "Production", "revision": "1",
                "hasMore": .bool(false), "signedTransactions": .array([transaction, payloads[3]]),
            ]),
            .members([
                "bundleId": bundleID, "environment": "Production",
                "data": .array([
                    .members([
                        "subscriptionGroupIdentifier": "1",
                        "lastTransactions": .array([
                            .members([
                                "originalTransactionId": transaction["originalTransactionId"]
                                    ?? .null,
                                "status": .integer(4),
                                "signedTransactionInfo": transaction,
                                "signedRenewalInfo": renewal,
                            ])
                        ]),
                    ])
                ]),
            ]),
            .members(["signedTransactionInfo": transaction]),
            .members([
                "paginationToken": "t", "hasMore": .bool(true),
                "notificationHistory": .array(
                    payloads.dropFirst(5).prefix(4).map { .members(["signedPayload": $0]) }
                ),
            ]),
        ]
        mutation = JSONMutation(wordsOf: answers + payloads, and: FuzzedAppStore.words)
    }

    func seeds() -> [[UInt8]] { answers.map { Array($0.description.utf8) } }

    func run(_ input: [UInt8]) {
        let json = try? JSONValue(parsing: input)
        let body = json.map { Array(appStore.signingNested($0).description.utf8) } ?? input
        let now = FuzzedAppStore.now
        let api = AppStoreServerAPI(
            access,
            bundleIDs: [appStore.store.bundleID],
            caller: StoreCaller(
                { _ in StoreResponse(status: 200, body: body) },
                clock: { now },
                sleep: { _ in },
                random: { 0 }
            ),
            clock: { now }
        )
        let verifier = appStore.verifier
        Blocking.wait {
            for page in await Self.pages(api) {
                let outcomes = await AppStoreImport.outcomes(of: page, verifier: verifier, now: now)
                for case .success(let submission) in outcomes { Self.demandLaws(submission) }
            }
        }
    }

    /// Whatever one can ask for, as far as it is told.
    private static func pages(_ api: AppStoreServerAPI) async -> [JSONValue] {
        let (start, now) = (FuzzedAppStore.start, FuzzedAppStore.now)
        let lists = [
            api.history(of: "1", in: .production),
            api.notifications(in: start..<now, about: api.bundleIDs[0], in: .production),
        ]
        var pages: [JSONValue] = []
        for var list in lists {
            let before = pages.count
            // Why there is no more makes no difference here.
            while let page = try? await list.next() { pages.append(page) }
            demand(pages.count - before < 3, "the same page again is no page")
        }
        // Nor why there is none.
        if let status = try? await api.statuses(of: "1", in: .production) { pages.append(status) }
        return pages
    }

    private static func demandLaws(_ submission: Submission) {
        submission.demandLaws(source: Source.appStore, evidence: submission.evidence ?? [])
        PlantedFault.strike(submission.events.contains { $0.kind == .revocationRefunded })
    }
}
