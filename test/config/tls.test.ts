import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';

const tls = { CANDOR_TLS_CERT: 'cert.pem', CANDOR_TLS_KEY: 'key.pem' };

test('client certificates are optional by default', () => {
  expect(loadConfig({ ...tls, CANDOR_TLS_CLIENT_CA: 'ca.pem' })['tls.client_certificates']).toBe('optional');
});

test('client certificates can be required only with an authority', () => {
  const required = { CANDOR_TLS_CLIENT_CERTIFICATES: 'required' };
  expect(() => loadConfig({ ...tls, ...required })).toThrow(
    expect.objectContaining({ setting: 'tls.client_certificates' }),
  );
  const config = loadConfig({ ...tls, ...required, CANDOR_TLS_CLIENT_CA: 'ca.pem' });
  expect(config['tls.client_certificates']).toBe('required');
});
