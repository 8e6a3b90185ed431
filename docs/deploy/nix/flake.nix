# The package of websvc for Nix, and a NixOS module that runs it.
#
# The address is a placeholder: websvc has no public repository. Replace it with that of yours, or with a path to the source
# tree, such as "path:../../..". Then: nix run . -- demo --once
{
  description = "Self-hosted web data service: search, scrape, crawl and monitor the web";

  inputs = {
    # The stable releases may have a Rust older than 1.92.
    nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
    source = {
      url = "git+https://git.example.org/OWNER/websvc";
      flake = false;
    };
  };

  outputs = { self, nixpkgs, source }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "websvc";
          version = "0.1.0";
          src = source;
          cargoLock.lockFile = "${source}/Cargo.lock";
          cargoBuildFlags = [ "--package" "websvc-cli" "--bin" "websvc" ];
          # The tests need Chromium, a Python and a network of their own: `cargo xtask test` in the source tree runs them.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/websvc man --output man
            installManPage man/*.1
            for shell in bash fish zsh; do
              $out/bin/websvc completions $shell > websvc.$shell
            done
            installShellCompletion --cmd websvc --bash websvc.bash --fish websvc.fish --zsh websvc.zsh
          '';
          meta = {
            license = with nixpkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "websvc";
          };
        };
      });

      nixosModules.default = { config, lib, pkgs, ... }: {
        options.services.websvc.enable = lib.mkEnableOption "websvc";
        config = lib.mkIf config.services.websvc.enable {
          systemd.services.websvc = {
            wantedBy = [ "multi-user.target" ];
            after = [ "network-online.target" ];
            wants = [ "network-online.target" ];
            # Pages are rendered if there is a Chromium.
            path = [ pkgs.chromium ];
            environment.WEBSVC_DATA_DIR = "/var/lib/websvc";
            serviceConfig = {
              ExecStart = "${self.packages.${pkgs.system}.default}/bin/websvc serve";
              DynamicUser = true;
              StateDirectory = "websvc";
              StateDirectoryMode = "0700";
              PrivateTmp = true;
              ProtectSystem = "strict";
              ProtectHome = true;
              Restart = "on-failure";
            };
          };
        };
      };
    };
}
