import DurableFiles
import Encodings

/// The file that says which cluster a ledger's directory is a copy of: `cluster.json` in it.
package struct ClusterFile: Sendable, Equatable {
    /// libpq's connection string; secrets come from the files that it names.
    package var postgres: String
    /// The schema in the database; nil: the usual one.
    package var schema: String?
    /// This node's name, one in the cluster.
    package var node: String
    /// Where the other nodes reach this one's HTTP.
    package var address: String
    /// Seconds without contact to the cluster's database after which this node ends: whoever was erased
    /// meanwhile is not told of by a machine that cannot know.
    package var contactSeconds: Int64

    /// Its name in the directory.
    package static let name = "cluster.json"
    /// Bytes of a node's name.
    package static let nodeByteLimit = 64
    /// How long a node goes on alone unless it is configured.
    package static let standardContactSeconds: Int64 = 3600
    private static let contactRange: ClosedRange<Int64> = 10...604_800

    /// Names the parts.
    package init(
        postgres: String,
        schema: String?,
        node: String,
        address: String,
        contactSeconds: Int64 = standardContactSeconds
    ) {
        self.postgres = postgres
        self.schema = schema
        self.node = node
        self.address = address
        self.contactSeconds = contactSeconds
    }

    /// Reads it.
    ///
    /// - Throws: `OperationFault` for one that is not there, that others can change, or that is not in
    ///   order.
    package static func read(ofLedgerAt path: String) throws -> ClusterFile {
        let place = path + "/" + name
        let bytes = try ConfigurationFile.read(place, ledger: path)
        // What of it is no JSON is of no use to whoever put it there.
        guard let json = try? JSONValue(parsing: bytes), let members = json.members else {
            throw OperationFault(.configuration, "it is no JSON object", place: place)
        }
        let known: Set<Name> = ["postgres", "schema", "node", "address", "contactSeconds"]
        if let other = members.first(where: { !known.contains(Name($0.name)) }) {
            throw OperationFault(
                .configuration,
                "\(other.name) is no member of it",
                place: place,
                hint: "it has postgres, schema, node, address and contactSeconds"
            )
        }
        guard let postgres = json["postgres"]?.string, let node = json["node"]?.string,
            let address = json["address"]?.string
        else {
            throw OperationFault(
                .configuration,
                "postgres, node and address are texts that it must have",
                place: place
            )
        }
        let seconds = json["contactSeconds"]
        guard seconds == nil || seconds?.integer.map(contactRange.contains) == true else {
            throw OperationFault(
                .configuration,
                "contactSeconds is a number of \(contactRange.lowerBound) to \(contactRange.upperBound)",
                place: place
            )
        }
        let file = ClusterFile(
            postgres: postgres,
            schema: json["schema"]?.string,
            node: node,
            address: address,
            contactSeconds: seconds?.integer ?? standardContactSeconds
        )
        if let fault = file.fault { throw OperationFault(.configuration, fault, place: place) }
        return file
    }

    /// What is not in order; nil: nothing.
    package var fault: String? {
        guard (1...Self.nodeByteLimit).contains(node.utf8.count),
            node.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            return "node has 1 to \(Self.nodeByteLimit) printable ASCII characters, no spaces"
        }
        guard address.hasPrefix("https://") || address.hasPrefix("http://") else {
            return "address is a URL by which the other nodes reach this one"
        }
        return nil
    }

    /// Writes it into a ledger's directory, durably.
    package func write(toLedgerAt path: String) throws {
        try DurableFile.replace(path + "/" + Self.name, with: bytes)
    }

    private var bytes: [UInt8] {
        var members = [JSONMember("postgres", .string(postgres))]
        if let schema { members.append(JSONMember("schema", .string(schema))) }
        members.append(JSONMember("node", .string(node)))
        members.append(JSONMember("address", .string(address)))
        if contactSeconds != Self.standardContactSeconds {
            members.append(JSONMember("contactSeconds", .integer(contactSeconds)))
        }
        return Array(JSONValue.object(members).description.utf8) + [0x0A]
    }
}
