import { asked, type Samples } from '../records.ts';

export default {
  'Name of a service that makes inner machines reachable asked for': {
    matches: [...asked('a1b2.ngrok-free.app'), ...asked('bore.pub'), ...asked('x.trycloudflare.com')],
    spares: [...asked('www.ngrok.com'), ...asked('cloudflare.com'), ...asked('ngrok.io.example')],
  },
  'Name of a paste or file drop service asked for': {
    matches: [...asked('pastebin.com'), ...asked('transfer.sh')],
    spares: [...asked('pastebin.com.example'), ...asked('paste.example')],
  },
  'Name of a callback service asked for': {
    matches: [...asked('c59s.oast.fun'), ...asked('x.y.oastify.com')],
    spares: [...asked('toast.fun'), ...asked('oastify.com.example')],
  },
  'Host asks which address it has outside': {
    matches: [...asked('api.ipify.org'), ...asked('icanhazip.com')],
    spares: [...asked('ipify.org.example'), ...asked('www.example.org')],
  },
} satisfies Samples;
