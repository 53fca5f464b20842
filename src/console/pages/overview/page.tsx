import { Page } from '../../ui/page.tsx';

export default function Shown() {
  return <Page title="overview">{null}</Page>;
}
