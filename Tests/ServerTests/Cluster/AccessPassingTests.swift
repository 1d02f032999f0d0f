import Encodings
import EntitlementLedger
import Entitlements
import Testing

@testable import LedgerServer

/// Several machines: who looked at whom at one is noted by the one that leads.
struct `An access that is passed on` {
    private static let access = CustomerAccess(
        id: "access/1",
        customer: "ann",
        environment: .production,
        actor: "k1",
        action: "exportCustomer",
        reason: String(repeating: "r", count: FieldShape.textByteLimit),
        time: Instant(milliseconds: 1_780_272_000_000)
    )

    @Test func `is read as it was passed`() throws {
        var access = Self.access
        #expect(try CustomerAccess(passed: access.passed) == access)
        access.reason = nil
        #expect(try CustomerAccess(passed: access.passed) == access)
    }

    // Nothing else holds it to what a record has room for.
    @Test(arguments: [
        ("id", String(repeating: "i", count: Identifier.byteLimit + 1)), ("id", ""),
        ("id", "two\nlines"),
        ("actor", String(repeating: "a", count: FieldShape.textByteLimit + 1)),
        ("action", String(repeating: "a", count: Code.byteLimit + 1)), ("action", "a sentence"),
        ("reason", String(repeating: "r", count: 70_000)), ("time", "1999-12-31T23:59:59.999Z"),
        ("time", "2200-01-01T00:00:00.000Z"),
    ])
    func `is refused beyond the bounds of what is noted`(_ member: String, _ value: String) throws {
        let passed = try #require(Self.access.passed.members)
        let changed = passed.map { $0.name == member ? JSONMember(member, .string(value)) : $0 }
        #expect(throws: InputFault.self) { try CustomerAccess(passed: .object(changed)) }
    }
}
