//! What a team may ask for.

/// What a team may ask for, and what is always done for it. The default allows none of the enterprise features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Policy {
    /// Zero data retention end to end (`enterprise: ["zdr"]`).
    pub zdr: Allowance,
    /// Anonymized zero data retention (`enterprise: ["anon"]`).
    pub anon: Allowance,
    /// Threat protection (specification, section 2.3).
    pub threat: ThreatPolicy,
    /// Whether a request may bring its own threat protection.
    pub threat_override: ThreatOverride,
}

/// Whether requests may, or always do, use a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Allowance {
    /// A request that asks for it is refused.
    #[default]
    Off,
    /// A request may ask for it.
    Allowed,
    /// Every request is treated as if it asked for it.
    Forced,
}

/// Whether URLs are checked for risks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ThreatPolicy {
    /// Not enabled: a request with `threatProtection` is refused.
    #[default]
    Off,
    /// Enabled; a request may turn it off.
    On,
    /// Enabled; a request may not turn it off.
    Enforced,
}

/// Whether a request may bring its own threat protection, once that is enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ThreatOverride {
    /// It may.
    #[default]
    Allowed,
    /// A request with `threatProtection` is refused.
    Denied,
}
