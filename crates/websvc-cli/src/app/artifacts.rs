//! Storage of artifacts: the data directory, another directory, or a bucket.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use url::Url;
use websvc_artifacts::{Artifacts, ArtifactsConfig, S3Config, StorageLocation};
use websvc_store::Store;

use super::sources::client;
use crate::config::{self, Config};
use crate::data_dir::DataDir;

/// Opens the storage of artifacts. No directory is created and no request is sent before the first artifact.
pub(super) fn open(config: &Config, data_dir: &DataDir, store: &Store) -> Result<Artifacts> {
    let config::Artifacts { path, max_bytes, max_age_hours, s3 } = &config.artifacts;
    ensure!(
        path.is_none() || s3.is_none(),
        "artifacts.path and [artifacts.s3] are both set: use only one of them"
    );
    let directory = || StorageLocation::Directory(path.clone().unwrap_or_else(|| data_dir.artifacts()));
    let location = bucket_location(config)?.unwrap_or_else(directory);
    let max_age = Duration::from_secs(max_age_hours.saturating_mul(3600));
    let artifacts = ArtifactsConfig { location, max_bytes: *max_bytes, max_age };
    Ok(Artifacts::open(store.clone(), artifacts)?)
}

/// Returns the configured bucket, if there is one.
pub(crate) fn bucket_location(config: &Config) -> Result<Option<StorageLocation>> {
    let Some(s3) = &config.artifacts.s3 else { return Ok(None) };
    let bucket = bucket(config, s3).context("artifacts.s3")?;
    Ok(Some(StorageLocation::S3(Box::new(bucket))))
}

/// Returns the bucket with a client that may reach its endpoint on any network, because the operator has chosen it.
fn bucket(config: &Config, s3: &config::S3) -> Result<S3Config> {
    let config::S3 { endpoint, region, bucket, prefix, access_key_id, secret_access_key } = s3.clone();
    let endpoint: Url = endpoint.parse::<Url>().context("endpoint")?;
    Ok(S3Config {
        client: client(config, &endpoint).context("endpoint")?,
        endpoint,
        region,
        bucket,
        prefix,
        access_key_id,
        secret_access_key,
    })
}
