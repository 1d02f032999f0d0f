"""What the tools share.

start      how a tool begins: its parts, its Python environment
report     faults, figures, and what a tool prints at its end
command    the command: run, asked, with an import that acknowledges
install    what is missing, installed; C files, compiled
history    the histories that ledgers are made of
feeding    events fed to an import, and what it acknowledged
ledgers    checks of a ledger, and its answers
records    the bytes of records
server     a running server, and HTTP
app_store  the App Store, played by the command
material   keys and files that servers are started with
tracing    kills and errors at single system calls
clock      a clock that is moved, or stands still
"""
