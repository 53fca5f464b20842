import { asked, connected, type Samples, server, zeek } from '../records.ts';

export default {
  'Name of a public resolver over HTTPS asked for': {
    matches: [...asked('dns.google'), ...asked('Mozilla.Cloudflare-DNS.com')],
    spares: [...asked('dns.google.example.org'), ...asked('google.com'), ...asked('www.cloudflare.com')],
  },
  'TLS connection to a public resolver over HTTPS': {
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
