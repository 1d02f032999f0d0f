package import EventLog

/// What a node that has nothing yet reads.
extension PostgresJournal: ClusterContents {
    /// Items that are read at once.
    private static let itemsPerPage: Int64 = 10_000
    /// Milliseconds until a vacuum is left alone.
    private static let vacuumMilliseconds: Int64 = 3_600_000

    /// See ``ClusterContents``.
    package func manifest() throws -> String {
        guard let row = try read([PostgresConnection.Command(sql.manifest)])[0].first else {
            throw Self.missing
        }
        return try row.text(0)
    }

    /// See ``ClusterContents``.
    package func keys() throws -> (bytes: [UInt8], generation: UInt64) {
        guard let row = try read([PostgresConnection.Command(sql.keys)])[0].first else {
            throw Self.missing
        }
        return (try row.bytes(1), try row.count(0))
    }

    /// See ``ClusterContents``.
    package func rewrapKeys(_ bytes: [UInt8], insteadOf known: [UInt8]) throws -> Bool {
        let command = PostgresConnection.Command(sql.rewrap, [.bytes(bytes), .bytes(known)])
        return try !keep(command).isEmpty
    }

    /// See ``ClusterContents``.
    package func rotation(
        since generation: UInt64,
        below position: UInt64
    ) throws -> VaultRotation {
        let answers = try read([
            PostgresConnection.Command(sql.begin),
            PostgresConnection.Command(sql.keys),
            PostgresConnection.Command(
                sql.changedItems,
                [.integer(Int64(clamping: generation)), .integer(Int64(clamping: position))]
            ),
            PostgresConnection.Command(sql.commit),
        ])
        guard let keys = answers[1].first else { throw Self.missing }
        return VaultRotation(
            generation: try keys.count(0),
            keys: try keys.bytes(1),
            items: try answers[2].map {
                VaultRotation.Item(
                    position: try $0.count(0),
                    entry: NewStream(stream: try $0.count(1), bytes: try $0.bytes(2))
                )
            }
        )
    }

    /// See ``ClusterContents``: over a connection of its own, since it takes long.
    package func vacuum() throws {
        let cleaning = PostgresLine(text, limits.connectSeconds)
        do {
            _ = try cleaning.exchange(
                [PostgresConnection.Command(sql.vacuum)],
                within: Self.vacuumMilliseconds
            )
        } catch {
            throw JournalFault(.unavailable, error.message)
        }
    }

    /// See ``ClusterContents``.
    package func keepersOfReplaced() throws -> [String] {
        do {
            return try ClusterCheck.keepersOfReplaced(in: text, schema: schema).map(\.what)
        } catch let fault as PostgresFault {
            throw JournalFault(.unavailable, fault.message)
        } catch let refusal as PostgresRefusal {
            throw JournalFault(refusal)
        }
    }

    /// See ``ClusterContents``.
    package func vaultPosition(at size: UInt64) throws -> UInt64 {
        try read([
            PostgresConnection.Command(sql.vaultPosition, [.integer(Int64(clamping: size))])
        ])[0].first?.count(0) ?? 0
    }

    /// See ``ClusterContents``.
    package func readItems(upTo position: UInt64, _ body: (NewStream) throws -> Void) throws {
        var next: Int64 = 0
        let end = Int64(clamping: position)
        while next < end {
            let rows = try read([
                PostgresConnection.Command(
                    sql.itemPage,
                    [.integer(next), .integer(end), .integer(Self.itemsPerPage)]
                )
            ])[0]
            guard let first = rows.first, try first.integer(0) == next else {
                throw JournalFault(.damaged, "an item of the vault is missing")
            }
            for row in rows {
                guard try row.integer(0) == next else {
                    throw JournalFault(.damaged, "an item of the vault is missing")
                }
                try body(NewStream(stream: try row.count(1), bytes: try row.bytes(2)))
                next += 1
            }
        }
    }

    /// See ``ClusterContents``.
    package func checkpoints(from size: UInt64) throws -> [(size: UInt64, note: String)] {
        try read([
            PostgresConnection.Command(sql.checkpoints, [.integer(Int64(clamping: size))])
        ])[0].map { (try $0.count(0), try $0.text(1)) }
    }

    /// See ``ClusterContents``.
    package func keep(checkpoint size: UInt64, note: String) throws {
        _ = try keep(
            PostgresConnection.Command(
                sql.common.keepCheckpoint,
                [.integer(Int64(clamping: size)), .text(note)]
            )
        )
    }

    /// See ``ClusterContents``.
    package func held(_ name: String) throws -> [UInt8]? {
        try read([PostgresConnection.Command(sql.common.held, [.text(name)])])[0].first?.bytes(0)
    }

    /// See ``ClusterContents``.
    package func hold(
        _ bytes: [UInt8],
        as name: String,
        insteadOf known: [UInt8]?
    ) throws -> Bool {
        let command =
            if let known {
                PostgresConnection.Command(
                    sql.common.rehold,
                    [.text(name), .bytes(bytes), .bytes(known)]
                )
            } else {
                PostgresConnection.Command(sql.common.hold, [.text(name), .bytes(bytes)])
            }
        return try !keep(command).isEmpty
    }

    /// See ``ClusterContents``.
    @discardableResult
    package func note(_ node: ClusterMember) throws -> Bool {
        try read([
            PostgresConnection.Command(
                sql.common.noteNode,
                [
                    .text(node.name), .text(node.address), .integer(Int64(clamping: node.size)),
                    .integer(Int64(clamping: node.generation)),
                ]
            )
        ])[0].first?.isTrue(0) == true
    }

    /// See ``ClusterContents``.
    package func members() throws -> [ClusterMember] {
        try read([PostgresConnection.Command(sql.common.nodes)])[0].map { try ClusterMember($0) }
    }

    /// See ``ClusterContents``.
    package func holdName(_ name: String) throws -> Bool {
        try read([PostgresConnection.Command(sql.common.holdName, [.text(name)])])[0].first?
            .isTrue(0) == true
    }

    /// See ``ClusterContents``.
    package func giveUpName() { reading.drop() }

    /// Forgets a machine that was taken out for good, with what it said of the copies that it made.
    ///
    /// `quiet`: how many seconds it must not have been seen.
    ///
    /// - Returns: false where it was, or there is none of that name: nothing was changed.
    package func forget(_ name: String, unseenFor quiet: Int64) throws -> Bool {
        let copies = ClusterMember.copiesName(of: name)
        return try !read([
            PostgresConnection.Command(
                sql.common.forgetNode,
                [.text(name), .integer(quiet), .text(copies)]
            )
        ])[0].isEmpty
    }
}
