/// The version that `--version`, the log and `/healthz` show.
let regentVersion = "0.1.0"
