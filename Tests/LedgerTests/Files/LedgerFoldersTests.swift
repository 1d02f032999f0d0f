import EntitlementLedger
import Foundation
import LedgerOperations
import Testing

/// The folders of a ledger's directory.
struct `A ledger's folders` {
    private static func permissions(below path: String) throws -> [String: Int] {
        let manager = FileManager.default
        var found: [String: Int] = [:]
        for case let name as String in manager.enumerator(atPath: path) ?? .init() {
            let attributes = try manager.attributesOfItem(atPath: path + "/" + name)
            guard attributes[.type] as? FileAttributeType == .typeDirectory else { continue }
            found[name] = (attributes[.posixPermissions] as? NSNumber)?.intValue
        }
        return found
    }

    // Whoever makes them: `init`, the views' generations, what makes them anew.
    @Test func `are its owner's alone`() async throws {
        try await CommandLedger.with { ledger in
            let made = try Self.permissions(below: ledger.path)
            #expect(made.keys.contains { $0.hasPrefix("views/") }, "there is a generation")
            #expect(made.filter { $0.value != 0o700 } == [:])
            try FileManager.default.removeItem(atPath: ledger.path + "/views")
            try Ledger.open(at: ledger.path).close()
            let again = try Self.permissions(below: ledger.path)
            #expect(again.keys.contains { $0.hasPrefix("views/") })
            #expect(again.filter { $0.value != 0o700 } == [:])
        }
    }
}
