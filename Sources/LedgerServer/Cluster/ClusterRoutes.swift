import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations

/// What a machine of a cluster says of itself, and what machines tell one another.
extension RouteTable {
    static let clusterRoutes = [
        Route(
            method: .get,
            template: "/v1/cluster",
            operation: "readCluster",
            summary: "How this machine stands in its cluster: who leads, and how far behind it is.",
            access: .keys([.read, .support, .audit]),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "How it stands",
                    shape: .described(ClusterStandingAnswer.self)
                )
            ],
            problems: [.notConfigured],
            handler: standing
        ),
        Route(
            method: .post,
            template: "/v1/cluster/accesses",
            operation: "passAccesses",
            summary:
                "Notes who looked at whom at another machine; machines of a cluster alone ask it, and no key does.",
            access: .keys([.admin]),
            body: Route.Body(
                shape: .object(
                    [Shape.Member("accesses", .list(.object([], optional: [], isClosed: false)))],
                    isClosed: true
                ),
                byteLimit: accessByteLimit
            ),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "They are noted",
                    shape: .object([Shape.Member("accesses", .sequence)])
                )
            ],
            problems: appendProblems + [.invalidValue, .missingField],
            handler: noteAccesses
        ),
    ]

    /// Bytes of a batch of accesses: room for ids and reasons of the longest.
    private static let accessByteLimit = 4 << 20

    @Sendable
    private static func standing(_: Call, _ service: LedgerService) async throws -> Answer {
        guard let cluster = service.cluster else {
            throw Problem(.notConfigured, "this server is no machine of a cluster")
        }
        let standing = try cluster.standing()
        return Answer(ClusterStandingAnswer(standing)).at(size: standing.size)
    }

    @Sendable
    private static func noteAccesses(_ call: Call, _ service: LedgerService) async throws -> Answer
    {
        // A key writes nobody into the list of who looked at whom.
        guard call.caller == .owner else { throw Problem(.forbidden) }
        let body = try call.object("accesses")
        let accesses = try (body["accesses"]?.array ?? []).map { json in
            do throws(InputFault) {
                return try CustomerAccess(passed: json)
            } catch {
                throw Problem(.invalidValue, error.detail, path: "accesses")
            }
        }
        try await service.appending { try service.ledger.appender.logAccess(accesses) }
        return Answer(.members(["accesses": .integer(Int64(accesses.count))]))
    }
}

extension CustomerAccess {
    /// As one machine passes it to another.
    var passed: JSONValue {
        .object(
            [
                JSONMember("id", .string(id)), JSONMember("customer", .string(customer.text)),
                JSONMember("environment", .string(environment.name)),
                JSONMember("actor", .string(actor)), JSONMember("action", .string(action)),
                JSONMember("time", .instant(time)),
            ] + (reason.map { [JSONMember("reason", .string($0))] } ?? [])
        )
    }

    /// Reads what was passed, within the bounds of what is noted.
    init(passed json: JSONValue) throws(InputFault) {
        let reader = ObjectReader(json)
        self.init(
            id: try reader.required("id", "expected an id") { json in
                json.string.flatMap { Identifier.isValid($0) ? $0 : nil }
            },
            customer: try reader.required("customer", "expected a customer") { json in
                json.string.flatMap { CustomerID($0) }
            },
            environment: try reader.required("environment", "expected an environment") { json in
                json.string.flatMap { StoreEnvironment(name: $0) }
            },
            actor: try reader.required("actor", Self.expectedText, Self.text),
            action: try reader.required("action", "expected a code") { json in
                json.string.flatMap { Code.isValid($0) ? $0 : nil }
            },
            reason: try reader.optional("reason", Self.expectedText, Self.text),
            time: try reader.required("time", "expected an instant in 2000 to 2200") { json in
                json.string.flatMap { Instant(rfc3339: $0) }.flatMap { $0.isPlausible ? $0 : nil }
            }
        )
    }

    private static let expectedText = "expected at most \(FieldShape.textByteLimit) bytes of text"

    /// Text that a record has room for; nil: it is longer, or none.
    private static func text(_ json: JSONValue) -> String? {
        json.string.flatMap { $0.utf8.count <= FieldShape.textByteLimit ? $0 : nil }
    }
}

extension ClusterStandingAnswer {
    init(_ standing: ClusterNode.Standing) {
        self.init(
            node: standing.node,
            isLeading: standing.isLeading,
            term: standing.term,
            leader: standing.leader,
            leaderAddress: standing.leaderAddress,
            sequence: standing.size,
            lag: standing.lag,
            generation: standing.generation,
            contactMilliseconds: standing.contactAge.map { UInt64($0) },
            fault: standing.fault,
            nodes: standing.members.map {
                ClusterNodeAnswer(
                    $0,
                    of: max(standing.clusterSize, standing.size),
                    readAgo: standing.membersAge
                )
            }
        )
    }
}
