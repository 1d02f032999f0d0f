import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LedgerOperations

extension Salvage {
    /// Heals a ledger, tells, and ends with 3 where it is not sound in the end.
    func mend(_ path: String, masterKey: [UInt8]) throws {
        var report = JSONValue.null
        var open = OpenLedger.Options(key: .bytes(masterKey))
        open.mapSize = try Settings.current.checkedMapSize()
        let reading = Progress("bytes read")
        let healed = try LedgerHealing(of: path, options: open) {
            reading.finish()
            report = try AuditChild.report(on: path, masterKey: masterKey, .everything)
            let kinds = (report["faults"]?.array ?? []).map {
                $0["kind"]?.string.flatMap(AuditReport.Kind.init(rawValue:))
            }
            return LedgerHealing.Findings(kinds: kinds)
        }
        .run { reading.show($0, of: $1) }
        reading.finish()
        let isSound = report["ok"]?.bool == true
        if options.json {
            Terminal.line(Self.json(healed, report))
        } else {
            for part in healed {
                let work = part.page.map { "page \($0) is a copy of page \(1 - $0)" } ?? "made anew"
                Terminal.line("healed \(part.name): \(work)")
            }
            let faults = report["faults"]?.array?.count ?? 0
            Terminal.line(
                isSound
                    ? healed.isEmpty ? "sound: there was nothing to heal" : "sound"
                    : "DAMAGED: \(faults) faults; `entitle audit` names them, and what to do"
            )
        }
        if !isSound { throw ExitCode.integrity }
    }

    /// The `heal` shape (schemas/heal.schema.json).
    private static func json(_ healed: [LedgerHealing.Part], _ report: JSONValue) -> JSONValue {
        .members([
            "ok": report["ok"] ?? .bool(false),
            "healed": .array(
                healed.map {
                    .members([
                        "part": .string($0.name),
                        "page": $0.page.map { .integer(UInt64($0)) } ?? .null,
                    ])
                }
            ),
            "faults": report["faults"] ?? .array([]),
        ])
    }
}
