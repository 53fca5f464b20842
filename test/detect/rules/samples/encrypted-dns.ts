import { asked, connected, type Samples, server, zeek } from '../records.ts';

export default {
  'DNS over HTTPS: public resolver lookup': {
    matches: [...asked('dns.google'), ...asked('Mozilla.Cloudflare-DNS.com')],
    spares: [...asked('dns.google.example.org'), ...asked('google.com'), ...asked('www.cloudflare.com')],
  },
  'DNS over HTTPS: connection to a public resolver': {
    matches: [[zeek('ssl', { server_name: 'dns.google' })]],
    spares: [[zeek('ssl', { server_name: 'www.google.com' })], [zeek('ssl', { subject: 'CN=dns.google' })]],
  },
  'DNS over TLS to the Internet': {
    matches: connected({ port: 853, service: 'ssl' }),
    spares: [
      ...connected({ port: 853, dst: server }),
      ...connected({ port: 443 }),
      ...connected({ port: 853, src: '198.18.1.1' }),
    ],
  },
} satisfies Samples;
