import Testing

@testable import PostgresStorage

/// Several hosts of a connection string: what is left to try behind the one that failed.
struct `Hosts of a connection string` {
    /// Hosts, addresses and ports, the one that failed, and those left; none: that was the last.
    private static let rows: [(HostLists, String, String, [String]?)] = [
        (
            HostLists(hosts: ["a", "b", "c"], addresses: [""], ports: ["5432"]), "a", "5432",
            ["b,c", "", "5432"]
        ),
        (
            HostLists(hosts: ["a", "b", "c"], addresses: [""], ports: ["1", "2", "3"]), "b", "2",
            ["c", "", "3"]
        ),
        // One host by two ports.
        (
            HostLists(hosts: ["a", "a"], addresses: [""], ports: ["1", "2"]), "a", "1",
            ["a", "", "2"]
        ),
        (HostLists(hosts: ["a", "a"], addresses: [""], ports: ["1", "2"]), "a", "2", nil),
        // Addresses alone, and beside names.
        (
            HostLists(hosts: [""], addresses: ["::1", "::2"], ports: [""]), "::1", "5432",
            ["", "::2", ""]
        ),
        (
            HostLists(hosts: ["a", "b"], addresses: ["::1", "::2"], ports: ["1", "2"]), "a", "1",
            ["b", "::2", "2"]
        ),
        (HostLists(hosts: ["a"], addresses: [""], ports: ["5432"]), "a", "5432", nil),
        (HostLists(hosts: [""], addresses: [""], ports: [""]), "/run", "5432", nil),
        (HostLists(hosts: ["a", "b"], addresses: [""], ports: ["5432"]), "another", "5432", nil),
    ]

    @Test func `are tried behind the one that failed, each once`() {
        for (lists, host, port, expected) in Self.rows {
            let left = lists.left(host: host, port: port)
            #expect(left?.map(\.1) == expected, "\(lists), \(host):\(port)")
            #expect(left.map { $0.map(\.0) == ["host", "hostaddr", "port"] } ?? true)
        }
    }
}
