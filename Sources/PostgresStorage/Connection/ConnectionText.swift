// Unsafe: libpq's list of settings, which it makes and frees, and which is read between.

import CPostgres

/// libpq's connection strings, looked at before they are used.
package enum ConnectionText {
    /// What is against one.
    package enum Fault: Sendable {
        /// libpq cannot read it; where it stumbled would tell what stands there.
        case malformed
        /// A password stands in it: everybody on the machine sees what a command is run with.
        case password
    }

    /// What is against a connection string, in either of its forms; nil: nothing, or libpq is not there to read it.
    package static func fault(in text: String) -> Fault? {
        guard unsafe libpq_handle() != nil else { return nil }
        var error: UnsafeMutablePointer<CChar>?
        let options = unsafe libpq_conninfoParse(text, &error)
        defer { unsafe libpq_freemem(error) }
        guard let options = unsafe options else { return .malformed }
        defer { unsafe libpq_conninfoFree(options) }
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            let word = unsafe String(cString: keyword)
            if unsafe option.pointee.val != nil, word.hasSuffix("password") { return .password }
            unsafe option += 1
        }
        return nil
    }

    /// The words that name the hosts behind the one at which a connection failed; nil: it did not fail,
    /// or that was the last one.
    ///
    /// libpq passes over a host that refuses or is silent, but not one that accepts and closes, as
    /// whatever forwards to a server does that is gone.
    static func hostsLeft(by connection: OpaquePointer) -> [(String, String)]? {
        guard unsafe libpq_status(connection) != CONNECTION_OK,
            let options = unsafe libpq_conninfo(connection),
            let host = unsafe libpq_host(connection), let port = unsafe libpq_port(connection)
        else { return nil }
        defer { unsafe libpq_conninfoFree(options) }
        return unsafe lists(options).left(host: String(cString: host), port: String(cString: port))
    }

    private static func lists(_ options: UnsafeMutablePointer<PQconninfoOption>) -> HostLists {
        var lists = HostLists()
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            let text = unsafe option.pointee.val.map { unsafe String(cString: $0) } ?? ""
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
                .map(String.init)
            switch unsafe String(cString: keyword) {
            case "host": lists.hosts = parts
            case "hostaddr": lists.addresses = parts
            case "port": lists.ports = parts
            default: break
            }
            unsafe option += 1
        }
        return lists
    }
}

/// Several hosts of a connection string: a list that is not given is one empty text, and one port is
/// that of all.
struct HostLists {
    var hosts = [""], addresses = [""], ports = [""]

    /// The words behind the first place with this host and port.
    func left(host: String, port: String) -> [(String, String)]? {
        let count = max(hosts.count, addresses.count)
        let place = (0..<count).first { place in
            let name = hosts.count == count ? hosts[place] : ""
            let known = name.isEmpty && addresses.count == count ? addresses[place] : name
            return known == host && (ports.count != count || ports[place] == port)
        }
        guard let place, place + 1 < count else { return nil }
        return [("host", hosts), ("hostaddr", addresses), ("port", ports)].map { word, list in
            let isOfEach = list.count == count
            return (word, (isOfEach ? Array(list[(place + 1)...]) : list).joined(separator: ","))
        }
    }
}
