import { eve, type Line, type Samples, server, zeek } from '../records.ts';

const tls = (more: Line) => zeek('ssl', { version: 'TLSv12', established: true, ...more });

export default {
  'Expired TLS certificate on an Internet server': {
    matches: [[tls({ validation_status: 'certificate has expired' })]],
    spares: [
      [tls({ validation_status: 'ok' })],
      [tls({ validation_status: 'certificate has expired', 'id.resp_h': server })],
      [tls({ validation_status: 'certificate has expired', established: false })],
    ],
  },
  'Self-signed TLS certificate on an Internet server': {
    matches: [
      [tls({ validation_status: 'self signed certificate' })],
      [tls({ validation_status: 'self-signed certificate in certificate chain' })],
    ],
    spares: [
      [tls({ validation_status: 'unable to get local issuer certificate' })],
      [tls({ validation_status: 'self signed certificate', 'id.resp_h': server })],
    ],
  },
  'SSLv2 or SSLv3 in use': {
    matches: [[tls({ version: 'SSLv3' })]],
    spares: [[tls({})], [tls({ version: 'SSLv3', established: false })]],
  },
  'TLS 1.0 or TLS 1.1 in use': {
    matches: [[tls({ version: 'TLSv10' })], [tls({ version: 'TLSv11' })]],
    spares: [[tls({})], [tls({ version: 'TLSv13' })]],
  },
  'SSLv2, SSLv3, TLS 1.0 or TLS 1.1 in use (Suricata)': {
    matches: [[eve('tls', { tls: { version: 'TLSv1' } })], [eve('tls', { tls: { version: 'TLS 1.1' } })]],
    spares: [[eve('tls', { tls: { version: 'TLS 1.2' } })], [eve('tls', { tls: { version: 'TLS 1.3' } })]],
  },
  'NULL, anonymous or export TLS cipher': {
    matches: [
      [tls({ cipher: 'TLS_RSA_WITH_NULL_SHA' })],
      [tls({ cipher: 'TLS_DH_anon_WITH_AES_128_CBC_SHA' })],
      [tls({ cipher: 'TLS_RSA_EXPORT_WITH_RC4_40_MD5' })],
    ],
    spares: [[tls({ cipher: 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256' })]],
  },
  'Default C2 certificate (Cobalt Strike, Quasar, AsyncRAT and others)': {
    matches: [
      [tls({ subject: 'CN=Major Cobalt Strike,OU=AdvancedPenTesting,O=cobaltstrike' })],
      [tls({ issuer: 'CN=AsyncRAT Server' })],
      [tls({ subject: 'CN=BitRAT' })],
      [tls({ subject: 'CN=DcRat Server,OU=qwqdanchun,O=DcRat By qwqdanchun,L=SH,C=CN' })],
    ],
    spares: [
      [tls({ subject: 'CN=www.cobaltstrike.com' })],
      [tls({ subject: 'CN=bitrates.example' })],
      [tls({ subject: 'CN=www.dcrates.example' })],
      [tls({ server_name: 'AsyncRAT Server' })],
    ],
  },
  'Default C2 certificate (Suricata)': {
    matches: [
      [eve('tls', { tls: { subject: 'CN=Quasar Server CA' } })],
      [eve('tls', { tls: { subject: 'CN=BitRAT' } })],
    ],
    spares: [
      [eve('tls', { tls: { subject: 'CN=quasar.example' } })],
      [eve('tls', { tls: { subject: 'CN=bitrates.example' } })],
    ],
  },
} satisfies Samples;
