// One HTML file with everything in it: the script and the style sheet are put where the page names them.

import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

function inline(): Plugin {
  return {
    name: 'inline',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const page = Object.values(bundle).find((file) => file.fileName.endsWith('.html'));
      if (page?.type !== 'asset') throw new Error('the build has no page');
      let html = String(page.source);
      for (const file of Object.values(bundle)) {
        if (file === page) continue;
        const source = (file.type === 'chunk' ? file.code : String(file.source)).trim();
        const [tag, element] =
          file.type === 'chunk'
            ? [
                new RegExp(`<script[^>]*${file.fileName}[^>]*></script>\\s*`),
                `<script type="module">${source.replaceAll('</script', '<\\/script')}</script>\n`,
              ]
            : [new RegExp(`<link[^>]*${file.fileName}[^>]*>\\s*`), `<style>${source}</style>\n`];
        if (!tag.test(html)) throw new Error(`the page does not name ${file.fileName}`);
        html = html.replace(tag, '');
        html =
          file.type === 'chunk'
            ? html.replace('</body>', () => `${element}</body>`)
            : html.replace('</head>', () => `${element}</head>`);
        delete bundle[file.fileName];
      }
      page.fileName = 'report.html';
      page.source = html;
    },
  };
}

export default defineConfig({
  plugins: [inline()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
  },
  test: { include: ['**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false },
});
