// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/udmabuf for kernels that are built without it (Debian's): one memfd as one dma-buf, by the interface of linux/udmabuf.h,
 * and with vmap, which Linux has from 6.3 on and drivers with buffers in virtual memory need.
 */
#include <linux/dma-buf.h>
#include <linux/iosys-map.h>
#include <linux/memfd.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/shmem_fs.h>
#include <linux/udmabuf.h>
#include <linux/vmalloc.h>

MODULE_IMPORT_NS(DMA_BUF);

struct udmabuf {
    unsigned int count;
    struct page *page[];
};

static void release_pages_of(struct udmabuf *buffer)
{
    for (unsigned int i = 0; i < buffer->count; i++)
        put_page(buffer->page[i]);
    kvfree(buffer);
}

static struct sg_table *map(struct dma_buf_attachment *attachment, enum dma_data_direction direction)
{
    struct udmabuf *buffer = attachment->dmabuf->priv;
    struct sg_table *table = kzalloc(sizeof *table, GFP_KERNEL);
    int result = -ENOMEM;
    if (!table)
        return ERR_PTR(result);
    result = sg_alloc_table_from_pages(table, buffer->page, buffer->count, 0, (size_t)buffer->count << PAGE_SHIFT, GFP_KERNEL);
    if (!result) {
        result = dma_map_sgtable(attachment->dev, table, direction, 0);
        if (!result)
            return table;
        sg_free_table(table);
    }
    kfree(table);
    return ERR_PTR(result);
}

static void unmap(struct dma_buf_attachment *attachment, struct sg_table *table, enum dma_data_direction direction)
{
    dma_unmap_sgtable(attachment->dev, table, direction, 0);
    sg_free_table(table);
    kfree(table);
}

static int map_for_kernel(struct dma_buf *dmabuf, struct iosys_map *ret_map)
{
    struct udmabuf *buffer = dmabuf->priv;
    void *address = vmap(buffer->page, buffer->count, VM_MAP, PAGE_KERNEL);
    if (!address)
        return -ENOMEM;
    iosys_map_set_vaddr(ret_map, address);
    return 0;
}

static void unmap_for_kernel(struct dma_buf *dmabuf, struct iosys_map *map_of)
{
    vunmap(map_of->vaddr);
}

static void release(struct dma_buf *dmabuf)
{
    release_pages_of(dmabuf->priv);
}

static const struct dma_buf_ops ops = {
    .map_dma_buf = map,
    .unmap_dma_buf = unmap,
    .vmap = map_for_kernel,
    .vunmap = unmap_for_kernel,
    .release = release,
};

/* Takes a reference to each of BUFFER's pages; those taken before a failure are counted in buffer->count. */
static int take_pages(struct udmabuf *buffer, struct address_space *mapping, pgoff_t first, unsigned int count)
{
    for (; buffer->count < count; buffer->count++) {
        struct page *page = shmem_read_mapping_page(mapping, first + buffer->count);
        if (IS_ERR(page))
            return PTR_ERR(page);
        buffer->page[buffer->count] = page;
    }
    return 0;
}

static int export(struct udmabuf *buffer, u32 flags)
{
    DEFINE_DMA_BUF_EXPORT_INFO(info);
    struct dma_buf *dmabuf;
    int fd;
    info.ops = &ops;
    info.size = (size_t)buffer->count << PAGE_SHIFT;
    info.priv = buffer;
    info.flags = O_RDWR;
    dmabuf = dma_buf_export(&info);
    if (IS_ERR(dmabuf)) {
        release_pages_of(buffer);
        return PTR_ERR(dmabuf);
    }
    fd = dma_buf_fd(dmabuf, flags & UDMABUF_FLAGS_CLOEXEC ? O_CLOEXEC : 0);
    if (fd < 0)
        dma_buf_put(dmabuf);
    return fd;
}

static long create(const struct udmabuf_create *wish)
{
    const unsigned int count = wish->size >> PAGE_SHIFT;
    struct file *memfd = fget(wish->memfd);
    struct udmabuf *buffer;
    int result = -EINVAL;
    if (!memfd)
        return -EBADF;
    if (!count || !PAGE_ALIGNED(wish->offset) || !PAGE_ALIGNED(wish->size) || !shmem_mapping(memfd->f_mapping) ||
        wish->offset + wish->size > i_size_read(file_inode(memfd)))
        goto done;
    result = -ENOMEM;
    buffer = kvzalloc(struct_size(buffer, page, count), GFP_KERNEL);
    if (!buffer)
        goto done;
    result = take_pages(buffer, memfd->f_mapping, wish->offset >> PAGE_SHIFT, count);
    if (result)
        release_pages_of(buffer);
    else
        result = export(buffer, wish->flags);

done:
    fput(memfd);
    return result;
}

static long control(struct file *file, unsigned int command, unsigned long argument)
{
    struct udmabuf_create wish;
    if (command != UDMABUF_CREATE)
        return -ENOTTY;
    if (copy_from_user(&wish, (void __user *)argument, sizeof wish))
        return -EFAULT;
    return create(&wish);
}

static const struct file_operations files = {.owner = THIS_MODULE, .unlocked_ioctl = control};
static struct miscdevice device = {.minor = MISC_DYNAMIC_MINOR, .name = "udmabuf", .fops = &files};

module_misc_device(device);
MODULE_DESCRIPTION("dma-bufs of memfds, for tests");
MODULE_LICENSE("GPL");
