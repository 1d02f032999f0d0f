import Glibc

extension DurableFile {
    /// Gives a file that root made to the user whose folder it is in: whoever runs the ledger opens it, too.
    ///
    /// Where the system does not tell whose the folder is, or takes no other owner, the file stays root's.
    static func giveToOwner(ofFolderOf path: String, _ descriptor: Int32) {
        guard geteuid() == 0 else { return }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        // Without an owner the file stays as it is.
        guard let status = try? status(folder, followsLinks: true), status.owner != 0
        else { return }
        _ = fchown(descriptor, status.owner, status.group)
    }
}
