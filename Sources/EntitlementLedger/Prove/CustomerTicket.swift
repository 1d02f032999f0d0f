import Crypto
import Encodings
package import Entitlements
import EventLog

/// What opens something of a customer's without a credential in a header, which neither the `EventSource` of
/// browsers (row Z8) nor a link that somebody follows can send.
///
/// As text it is sealed under a key of the ledger (AES-256-GCM): an address that holds one names nobody, and
/// nobody else makes one.
package struct CustomerTicket: Equatable, Sendable {
    package let customer: CustomerID
    package let environment: StoreEnvironment
    /// The API key that asked for it; nil: the customer did.
    package let keyID: String?
    /// From when on it opens nothing.
    package let end: Instant
    /// The digest of what its holder knows; nil: nothing.
    package let digest: String?

    package init(
        customer: CustomerID,
        environment: StoreEnvironment,
        keyID: String?,
        end: Instant,
        digest: String? = nil
    ) {
        self.customer = customer
        self.environment = environment
        self.keyID = keyID
        self.end = end
        self.digest = digest
    }

    /// Longest text that is read, in characters: the longest id, each of whose characters is escaped, and what
    /// stands beside it.
    package static let characterLimit = 16 << 10

    private static let customerName = "customer"
    private static let environmentName = "environment"
    private static let keyName = "key"
    private static let endName = "end"
    private static let digestName = "digest"

    private var json: JSONValue {
        var members = [
            JSONMember(Self.customerName, .string(customer.text)),
            JSONMember(Self.environmentName, .string(environment.name)),
            JSONMember(Self.endName, .instant(end)),
        ]
        if let digest { members.append(JSONMember(Self.digestName, .string(digest))) }
        if let keyID { members.append(JSONMember(Self.keyName, .string(keyID))) }
        return .object(members)
    }

    private init(_ json: JSONValue) throws(InputFault) {
        let reader = ObjectReader(json)
        customer = try reader.required(Self.customerName, "a customer") { json in
            json.string.flatMap { CustomerID($0) }
        }
        environment = try reader.required(Self.environmentName, "an environment") { json in
            json.string.flatMap { StoreEnvironment(name: $0) }
        }
        end = try reader.required(Self.endName, "an instant") { json in
            json.string.flatMap { Instant(rfc3339: $0) }
        }
        digest = reader.value(Self.digestName)?.string
        keyID = reader.value(Self.keyName)?.string
    }

    /// What a ticket opens: one for something else opens nothing of it.
    package enum Purpose: String, Sendable {
        /// Notices that a customer's flags are others now.
        case changeNotices = "change-ticket"
        /// A customer's own pages.
        case pages = "page-ticket"
        /// Calls that a machine of a cluster passes on to another.
        case nodes = "node-ticket"
    }

    /// Seals tickets, and opens those that were sealed by the same ledger, by whichever of its processes.
    package struct Sealer: Sendable {
        private let seal: LedgerSeal

        init(_ purpose: Purpose, _ ledgerKey: Curve25519.Signing.PrivateKey) {
            seal = LedgerSeal(ledgerKey, for: purpose.rawValue)
        }

        /// A ticket's text: letters, digits, `-` and `_`; another one each time.
        package func text(of ticket: CustomerTicket) throws -> String {
            let sealed = try seal.sealed(Array(ticket.json.description.utf8))
            return Base64.encode(sealed.span, .url)
        }

        /// The ticket of a text; nil: it is none of this ledger's.
        package func ticket(_ text: String) -> CustomerTicket? {
            guard text.utf8.count <= CustomerTicket.characterLimit,
                let bytes = Base64.decode(text, .url),
                // Whatever was changed in it or sealed by others opens no more.
                let plain = try? seal.opened(bytes)
            else { return nil }
            // What is sealed is what was written here, by this version of the program or another.
            return (try? JSONValue(parsing: plain)).flatMap { try? CustomerTicket($0) }
        }
    }
}

extension Prover {
    /// Seals tickets of a kind.
    ///
    /// - Throws: `LogStorageFault` where the ledger's key is not at hand.
    package func tickets(for purpose: CustomerTicket.Purpose) throws -> CustomerTicket.Sealer {
        CustomerTicket.Sealer(purpose, try opened.whole.checkpointKey)
    }
}
