import DurableFiles
import Encodings
import Entitlements
import LedgerOperations
import Scenarios
import StoreSimulator

/// The folder of simulated stores: their keys, and what a backend must know of them.
struct SimulatedStoresFolder {
    let path: String

    private static let storesFile = "stores.json"
    /// Stands in the folder, which was empty, until all keys do.
    private static let unfinishedFile = "keys.unfinished"

    /// The keys that are there, else new ones, which are written: instead of some that were not all written,
    /// too.
    ///
    /// - Throws: `OperationFault` for a folder that holds something else.
    func keys(at now: Instant) throws -> SimulatedKeys {
        let names = try DurableFile.names(in: path)
        if names.isEmpty || names.contains(Self.unfinishedFile) {
            let keys = try ScenarioRun.keys(around: now)
            try make()
            for (name, text) in keys.files { try write(name, text) }
            DurableFile.remove(path + "/" + Self.unfinishedFile)
            return keys
        }
        do {
            return try SimulatedKeys { name in
                guard names.contains(name) else {
                    throw OperationFault(
                        .notEmpty,
                        "the folder holds something else than simulated stores",
                        place: path,
                        hint: "name one that is empty, or is not there"
                    )
                }
                return try ProofFile.text(path + "/" + name)
            }
        } catch let fault as OperationFault {
            throw fault
        } catch {
            throw OperationFault(
                .malformed,
                "the keys of the simulated stores cannot be read",
                place: path,
                hint: "begin anew with another folder"
            )
        }
    }

    /// Writes what `stores.json` names, the catalog that the scenarios take for granted, what they expect,
    /// and `stores.json` last: where it is there, all of it is.
    func write(_ keys: SimulatedKeys, at url: String, _ scenarios: [Scenario]) throws {
        for (name, text) in try keys.trustedFiles() { try write(name, text) }
        let catalog = try ScenarioProducts.catalog(policy: scenarios.first?.policy ?? "keep")
        try write("catalog.json", catalog.description + "\n")
        let lines = scenarios.flatMap(\.expectationLines).map { $0.description + "\n" }
        try write("expect.ndjson", lines.joined())
        try write(stores: keys.configuration(at: url).description + "\n")
    }

    /// What `stores.json` says, if it is there.
    func stores() throws -> String? {
        guard try DurableFile.names(in: path).contains(Self.storesFile) else { return nil }
        return try ProofFile.text(path + "/" + Self.storesFile)
    }

    /// Writes `stores.json` alone.
    func write(stores text: String) throws { try write(Self.storesFile, text) }

    private func make() throws {
        do {
            try DurableFile.makeFolder(path)
            try DurableFile.make(path + "/" + Self.unfinishedFile)
        } catch {
            throw OperationFault(.cannotCreate, "the folder cannot be made", place: path)
        }
    }

    private func write(_ name: String, _ text: String) throws {
        try OutputFile.write(text, to: path + "/" + name)
    }
}
