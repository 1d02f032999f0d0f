import DurableFiles
import Foundation
import LMDBStorage

/// Files that say what the program trusts: settings, stores, certificates, keys.
package enum ConfigurationFile {
    /// Reads one that nobody else can have put there.
    ///
    /// `ledger`: the directory of the ledger that it is for; its owner is believed too, so that root
    /// can look after the ledger of a service.
    ///
    /// - Throws: `OperationFault`.
    package static func read(_ path: String, ledger: String?) throws -> [UInt8] {
        try requireTrust(path, ledger: ledger)
        do {
            return Array(try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw OperationFault(
                .configuration,
                "the file cannot be read",
                place: path
            )
        }
    }

    /// Refuses a file that others can change, or have put there; one that is not there passes.
    ///
    /// - Throws: `OperationFault`.
    package static func requireTrust(_ path: String, ledger: String?) throws {
        let owner = ledger.flatMap { TrustedFile.owner(of: $0) }
        do {
            let owners = Set([owner].compactMap(\.self))
            if let distrust = try TrustedFile.distrust(of: path, owners: owners) {
                throw OperationFault(distrust, of: path)
            }
        } catch let fault as FileFault {
            throw OperationFault(
                .configuration,
                "who can change the file cannot be told (errno \(fault.code))",
                place: path,
                hint: "keep it where every folder on the way may be looked at"
            )
        }
    }
}

extension OperationFault {
    fileprivate init(_ distrust: TrustedFile.Distrust, of path: String) {
        let place = distrust.place
        let (what, hint) =
            switch distrust.reason {
            case .owner(let number):
                ("\(place) belongs to user \(number)", "chown it to whoever runs this, or to root")
            case .writable: ("others can write to \(place)", "chmod go-w \(place)")
            case .links: ("\(place) is a link without an end", "name the file itself")
            }
        self.init(
            .configuration,
            "the file is not believed: \(what)",
            place: path,
            hint: "\(hint); or keep the file where only its owner writes"
        )
    }
}
