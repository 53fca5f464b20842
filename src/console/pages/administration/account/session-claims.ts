/** What an access token says of its session, read and not verified: that is the service's to do. Pure. */
export function sessionOf(token: string): { readonly jti?: string } {
  try {
    const part = token.split('.')[1] ?? '';
    const { jti }: { jti?: unknown } = JSON.parse(atob(part.replaceAll('-', '+').replaceAll('_', '/')));
    return typeof jti === 'string' ? { jti } : {};
  } catch {
    return {};
  }
}
