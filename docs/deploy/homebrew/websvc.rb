# The formula of websvc for Homebrew on macOS and Linux. It builds the program from a tarball of the source tree.
#
# The addresses are placeholders: websvc has no public repository. Replace OWNER and the checksum with those of yours:
#   git archive --prefix=websvc-0.1.0/ --output websvc-0.1.0.tar.gz v0.1.0 && sha256sum websvc-0.1.0.tar.gz
# Put the file into the directory `Formula` of a tap, then run: brew install OWNER/tap/websvc
class Websvc < Formula
  desc "Self-hosted web data service: search, scrape, crawl and monitor the web"
  homepage "https://git.example.org/OWNER/websvc"
  url "https://git.example.org/OWNER/websvc/archive/websvc-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/websvc-cli")
    generate_completions_from_executable(bin/"websvc", "completions")
    system bin/"websvc", "man", "--output", buildpath/"man"
    man1.install Dir["man/*.1"]
  end

  # `brew services start websvc` listens on http://127.0.0.1:3002. The log has the first API key.
  service do
    run [opt_bin/"websvc", "serve"]
    environment_variables WEBSVC_DATA_DIR: var/"websvc"
    keep_alive true
    log_path var/"log/websvc.log"
    error_log_path var/"log/websvc.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/websvc --version")
    system bin/"websvc", "demo", "--once"
  end
end
