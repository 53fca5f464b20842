import { asked, type Samples } from '../records.ts';

export default {
  'Tunnelling service lookup (ngrok, Cloudflare Tunnel and others)': {
    matches: [...asked('a1b2.ngrok-free.app'), ...asked('bore.pub'), ...asked('x.trycloudflare.com')],
    spares: [...asked('www.ngrok.com'), ...asked('cloudflare.com'), ...asked('ngrok.io.example')],
  },
  'Paste or file-drop site lookup': {
    matches: [...asked('pastebin.com'), ...asked('transfer.sh')],
    spares: [...asked('pastebin.com.example'), ...asked('paste.example')],
  },
  'OAST callback lookup (Interactsh, Burp Collaborator)': {
    matches: [...asked('c59s.oast.fun'), ...asked('x.y.oastify.com')],
    spares: [...asked('toast.fun'), ...asked('oastify.com.example')],
  },
  'External IP address lookup': {
    matches: [...asked('api.ipify.org'), ...asked('icanhazip.com')],
    spares: [...asked('ipify.org.example'), ...asked('www.example.org')],
  },
} satisfies Samples;
