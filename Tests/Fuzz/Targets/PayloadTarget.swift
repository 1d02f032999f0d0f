import Encodings
import Entitlements
import LedgerOperations
import ModelSupport
import Stores

/// What the App Store signs, behind the signature: an input is the payload's JSON, in which nested
/// payloads stand as plain objects; all are signed, verified and mapped.
struct PayloadTarget: MutatingFuzzTarget {
    private let appStore: FuzzedAppStore
    let mutation: JSONMutation

    init(_ appStore: FuzzedAppStore) {
        self.appStore = appStore
        mutation = JSONMutation(wordsOf: appStore.payloads(), and: FuzzedAppStore.words)
    }

    func seeds() -> [[UInt8]] { appStore.payloads().map { Array($0.description.utf8) } }

    func run(_ input: [UInt8]) {
        // What is no JSON is signed as it is: the signature says nothing about the form.
        let json = try? JSONValue(parsing: input)
        let jws = appStore.signed(
            json.map { Array(appStore.signingNested($0).description.utf8) } ?? input
        )
        let verifier = appStore.verifier
        let outcome = Blocking.wait {
            await verifier.signal(jws, expecting: nil, now: FuzzedAppStore.now)
        }
        guard case .success(let signal) = outcome else { return }
        let submission = AppStoreMapping.submission(for: signal, body: jws)
        submission.demandLaws(source: Source.appStore, evidence: jws)
        PlantedFault.strike(
            submission.events.contains {
                $0.data.text(.ownership) == "family_shared"
                    && $0.data.text(.productKind) == "non_consumable"
            }
        )
    }
}
