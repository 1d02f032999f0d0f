import Encodings
import Entitlements
import Testing

@testable import Stores

/// What an export with hidden names shows of a payload names no customer.
struct `Members that name nobody` {
    @Test(arguments: [
        (ImpersonalMembers.appStore, PayloadNames.appStore, "appAccountToken"),
        (ImpersonalMembers.playStore, PayloadNames.playStore, "obfuscatedExternalAccountId"),
        (ImpersonalMembers.revenueCat, PayloadNames.revenueCat, "app_user_id"),
    ])
    func `are none of those in which a store writes customers`(
        members: Set<Name>,
        names: PayloadNames,
        somebody: String
    ) {
        func customers(_ member: String) -> [Subject] {
            let payload = JSONValue.members([member: "somebody"]).description
            return names.subjects(in: Array(payload.utf8)).filter { $0.kind == .customer }
        }
        for member in members { #expect(customers(member.text) == [], "\(member)") }
        #expect(members.count > 20 && !members.contains(somebody))
        // The control: who is named is found.
        #expect(customers(somebody) == [.customer("somebody")])
    }
}
