//! A loopback web of many hosts for the tests of websvc.
